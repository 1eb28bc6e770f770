"""Where things live on disk: the shared download cache and a stack's own state directory.

Run as root, both default to places another user can reach, because Postgres refuses to run as
root and is started as `nobody`: a home or a temporary directory of mode 0700 would lock it out.
"""

import hashlib
import os
from pathlib import Path


def is_root() -> bool:
    """Tell whether we run as the superuser."""
    return os.geteuid() == 0


def cache_dir() -> Path:
    """Return the per-user cache of pinned artifacts, shared by all checkouts (`CDC_CACHE`)."""
    if chosen := os.environ.get("CDC_CACHE"):
        return Path(chosen).expanduser().absolute()
    if is_root():
        return Path("/var/cache/cdc")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "cdc"


def default_state_dir() -> Path:
    """Return this directory's own stack (`CDC_STATE_DIR`): two checkouts never share one."""
    if chosen := os.environ.get("CDC_STATE_DIR"):
        return Path(chosen).expanduser().absolute()
    here = Path.cwd()
    if is_root():
        digest = hashlib.sha256(str(here).encode()).hexdigest()[:8]
        return Path("/var/lib/cdc") / f"{here.name or 'root'}-{digest}"
    return here / ".cdc"


def make_private(directory: Path) -> Path:
    """Create a directory that only we can read."""
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o700)
    return directory
