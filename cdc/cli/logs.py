"""The end of a log file, and what is added to it."""

import io
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

BLOCK = 64 * 1024
POLL_SECONDS = 0.2


def tail(path: Path, count: int) -> list[str]:
    """Return the last lines of a file, reading only its end."""
    if count <= 0:
        return []
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        data = b""
        # One line break more than lines: the block may begin in the middle of a line.
        while position > 0 and data.count(b"\n") <= count:
            step = min(BLOCK, position)
            position = file.seek(position - step)
            data = file.read(step) + data
    return [_text(line) for line in deque(io.BytesIO(data), maxlen=count)]


def follow(path: Path, wait: Callable[[], None] | None = None) -> Iterator[str]:
    """Yield each line added from now on, for ever; a file that was started anew is read anew."""
    pause = wait or (lambda: time.sleep(POLL_SECONDS))
    position = path.stat().st_size
    rest = b""
    while True:
        if path.stat().st_size < position:
            position, rest = 0, b""
        with path.open("rb") as file:
            file.seek(position)
            data = file.read()
        position += len(data)
        *lines, rest = (rest + data).split(b"\n")
        yield from (_text(line) for line in lines)
        pause()


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")
