"""Picks free ports on loopback, away from those the system hands out by itself."""

import random
import socket
from collections.abc import Container

LOOPBACK = "127.0.0.1"
# Below the range from which systems take the ports of outgoing connections, so that a port of a
# stack that is down for a while is not taken by chance.
DEFAULT_RANGE = range(15_000, 30_000)


def is_free(port: int) -> bool:
    """Tell whether a server could listen there now."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def pick(taken: Container[int], among: range = DEFAULT_RANGE) -> int:
    """Return a free port at random, so that stacks started together seldom want the same."""
    for port in random.sample(among, len(among)):
        if port not in taken and is_free(port):
            return port
    raise OSError(f"no free port from {among.start} to {among.stop - 1}")
