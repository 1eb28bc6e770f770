"""Runs Apache Ivy, which ships inside PySpark and knows Maven's central repository by itself.

No address stands here: Ivy's own default is used, or the resolver in the settings file that
`CDC_IVY_SETTINGS` names (for people behind a mirror; it must call its resolver `central`).
"""

import os
import subprocess
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from xml.sax.saxutils import quoteattr

from cdc.errors import FatalError, RetryableError
from cdc.stack.artifacts import Artifact
from cdc.stack.java import find_java

OLDEST_JAVA = 8
# Unlike a file name, a path tells organisation, module, version and classifier apart again.
RETRIEVE_PATTERN = "[organisation]/[module]/[revision]/[artifact](-[classifier]).[ext]"
FETCHED = "[SUCCESSFUL ]"


def run_ivy(work_dir: Path, dependencies: Iterable[str], *, read_poms: bool) -> Iterator[str]:
    """Retrieve the dependencies into `work_dir/out`, yielding Ivy's line for each arrived file.

    Raises RetryableError with Ivy's own words when one could not be had.
    """
    (work_dir / "out").mkdir(parents=True, exist_ok=True)
    ivy_file = work_dir / "ivy.xml"
    ivy_file.write_text(_ivy_file(dependencies))
    command = [
        find_java(OLDEST_JAVA).executable,
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx256m",
        "-jar",
        str(_ivy_jar()),
        *("-settings", str(_settings_file(work_dir, read_poms=read_poms))),
        *("-cache", str(work_dir / "cache")),
        *("-ivy", str(ivy_file)),
        *("-retrieve", f"{work_dir}/out/{RETRIEVE_PATTERN}"),
        # Last, because it takes any number of values.
        *("-types", "jar", "bundle", "maven-plugin", "tar.gz"),
    ]
    said: list[str] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        if process.stdout is None:
            raise AssertionError
        for line in process.stdout:
            said.append(line)
            if FETCHED in line:
                yield line
    if process.returncode != 0:
        why = [line.strip(" :\n") for line in said if "#" in line and "not found" in line]
        raise RetryableError(
            "could not fetch the pinned jars: " + ("; ".join(why) or "".join(said[-3:]).strip()),
            hint="check the network and run the command again (what arrived is kept); behind a "
            "mirror, name an Ivy settings file in CDC_IVY_SETTINGS",
        )


def arrival_path(work_dir: Path, artifact: Artifact) -> Path:
    """Return where `run_ivy` puts the artifact."""
    classifier = f"-{artifact.classifier}" if artifact.classifier else ""
    name = f"{artifact.module}{classifier}.{artifact.extension}"
    return work_dir / "out" / artifact.organisation / artifact.module / artifact.version / name


def artifact_at(arrived: Path, sha256: str) -> Artifact:
    """Tell an artifact's coordinates from where `run_ivy` put it."""
    organisation, module, version = arrived.parts[-4:-1]
    name, _, extension = arrived.name.removeprefix(module).partition(".")
    return Artifact(organisation, module, version, name.removeprefix("-"), extension, sha256)


def direct_dependency(artifact: Artifact) -> str:
    """Describe exactly this file: no descriptor is read and nothing it depends on comes along."""
    classifier = f" m:classifier={quoteattr(artifact.classifier)}" if artifact.classifier else ""
    return (
        f"<dependency org={quoteattr(artifact.organisation)} name={quoteattr(artifact.module)} "
        f'rev={quoteattr(artifact.version)} transitive="false" conf="default->*">'
        f"<artifact name={quoteattr(artifact.module)} type={quoteattr(artifact.extension)} "
        f"ext={quoteattr(artifact.extension)}{classifier}/></dependency>"
    )


def root_dependency(artifact: Artifact) -> str:
    """Describe a root with all it needs at run time, as its descriptors say."""
    return (
        f"<dependency org={quoteattr(artifact.organisation)} name={quoteattr(artifact.module)} "
        f'rev={quoteattr(artifact.version)} conf="default->default"/>'
    )


def _ivy_file(dependencies: Iterable[str]) -> str:
    # The namespace is only a prefix for `classifier`; Ivy reads nothing into its name.
    return (
        '<ivy-module version="2.0" xmlns:m="maven"><info organisation="cdc" module="stack"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(dependencies)}</dependencies></ivy-module>"
    )


def _settings_file(work_dir: Path, *, read_poms: bool) -> Path:
    if chosen := os.environ.get("CDC_IVY_SETTINGS"):
        path = Path(chosen).expanduser()
        if not path.is_file():
            raise FatalError(
                f"CDC_IVY_SETTINGS names {path}, which is no file",
                hint="unset CDC_IVY_SETTINGS or point it at an Ivy settings file",
            )
        return path
    poms = "true" if read_poms else "false"
    path = work_dir / "ivysettings.xml"
    # Digests are ours to check, so Ivy need not ask for the repository's own.
    path.write_text(
        '<ivysettings><settings defaultResolver="central"/><resolvers>'
        f'<ibiblio name="central" m2compatible="true" usepoms="{poms}" useMavenMetadata="false" '
        'checksums=""/></resolvers></ivysettings>'
    )
    return path


def _ivy_jar() -> Path:
    pyspark = find_spec("pyspark")
    folders = pyspark.submodule_search_locations if pyspark else None
    for folder in folders or ():
        for jar in Path(folder, "jars").glob("ivy-*.jar"):
            return jar
    raise FatalError("PySpark's Ivy jar is missing", hint="run `make setup`")
