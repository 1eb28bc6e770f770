"""Finds a Java that is new enough, without running the ones that are not."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cdc.errors import FatalError

# Where package managers and version managers put JDKs.
USUAL_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/*jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)

# Class-data sharing archives that are made on the fly came with this release.
FIRST_WITH_AUTO_ARCHIVE = 19


@dataclass(frozen=True)
class Java:
    """One Java installation."""

    home: Path
    major: int

    @property
    def executable(self) -> str:
        """Return the path of its `java`."""
        return str(self.home / "bin" / "java")

    def quick_start_flags(self, archive: Path) -> list[str]:
        """Return flags that trade peak speed nobody needs here for a quick start.

        The archive keeps parsed classes from one start to the next.
        """
        flags = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        if self.major >= FIRST_WITH_AUTO_ARCHIVE:
            flags += ["-XX:+AutoCreateSharedArchive", f"-XX:SharedArchiveFile={archive}"]
        return flags


def find_java(at_least: int) -> Java:
    """Return JAVA_HOME when it is new enough, else the newest Java found.

    Raises FatalError, naming what was found and what to install, when none will do.
    """
    found = list(_installed())
    for java in found:
        if java.major >= at_least and _is_java_home(java):
            return java
    fitting = [java for java in found if java.major >= at_least]
    if fitting:
        return max(fitting, key=lambda java: java.major)
    seen = ", ".join(f"Java {java.major} in {java.home}" for java in found) or "none at all"
    raise FatalError(
        f"Java {at_least} or newer is needed; found {seen}",
        hint=f"install a JDK {at_least}+ (Debian: apt-get install openjdk-{at_least}-jre-headless, "
        f"macOS: brew install openjdk@{at_least}) or point JAVA_HOME at one",
    )


def _is_java_home(java: Java) -> bool:
    chosen = os.environ.get("JAVA_HOME")
    return chosen is not None and Path(chosen).resolve() == java.home


def _installed() -> Iterator[Java]:
    seen: set[Path] = set()
    for home in _candidate_homes():
        resolved = home.resolve()
        if resolved in seen or not (resolved / "bin" / "java").is_file():
            continue
        seen.add(resolved)
        if major := _major_version(resolved):
            yield Java(resolved, major)


def _candidate_homes() -> Iterator[Path]:
    if chosen := os.environ.get("JAVA_HOME"):
        yield Path(chosen)
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve().parent.parent
    for pattern in USUAL_FOLDERS:
        expanded = Path(pattern).expanduser()
        yield from sorted(Path(expanded.anchor).glob(str(expanded.relative_to(expanded.anchor))))


def _major_version(home: Path) -> int | None:
    """Read the version from the `release` file; ask `java -version` where there is none."""
    release = home / "release"
    text = release.read_text(errors="replace") if release.is_file() else ""
    match = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', text)
    if match is None:
        try:
            answer = subprocess.run(
                [str(home / "bin" / "java"), "-version"],
                capture_output=True,
                text=True,
                timeout=20,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(match.group(1)) if match else None
