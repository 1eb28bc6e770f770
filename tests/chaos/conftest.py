"""Chaos runs on a stack of its own: what it kills nobody else uses."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdc.stack.paths import default_state_dir
from cdc.stack.stack import Stack


@pytest.fixture(scope="session")
def chaos_stack() -> Iterator[Stack]:
    """Postgres, Kafka and Connect from nothing; kept with its logs when a test failed."""
    default = default_state_dir()
    stack = Stack(Path(os.environ.get("CDC_CHAOS_STATE_DIR", f"{default}-chaos")))
    stack.reset()
    stack.up(["postgres", "kafka", "connect"])
    yield stack
    stack.reset()


@pytest.fixture(scope="session")
def rounds() -> int:
    """How often to break things: a few in the test command, many in `make chaos`."""
    return int(os.environ.get("ROUNDS") or 3)


@pytest.fixture
def dice() -> random.Random:
    """Chance that can be repeated: the seed is printed, and SEED sets it."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
    print(f"SEED={seed}")
    return random.Random(seed)
