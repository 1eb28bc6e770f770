"""Benchmarks run on a stack of their own and write down what they measured, and on what."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cdc.stack.paths import default_state_dir
from cdc.stack.stack import Stack, all_services

RESULTS = Path(__file__).with_name("results")


@pytest.fixture(scope="session")
def bench_stack() -> Iterator[Stack]:
    """A stack that starts empty and is removed at the end."""
    default = default_state_dir()
    stack = Stack(default.with_name(default.name + "-bench"))
    stack.reset()
    stack.up()
    yield stack
    stack.reset()


@pytest.fixture
def publish(request: pytest.FixtureRequest) -> Callable[[dict[str, float]], None]:
    """Print figures with machine and versions; SAVE=1 keeps them beside the benchmark."""

    def write(figures: dict[str, float]) -> None:
        result = {
            "benchmark": request.node.name,
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
            "versions": {name: service.version for name, service in all_services().items()},
            "figures": figures,
        }
        text = json.dumps(result, indent=2)
        print(f"\n{text}")
        if os.environ.get("SAVE"):
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{request.node.name}.json").write_text(text + "\n")

    return write
