"""The `cdc` command. Wires the other packages together and owns how they look in a terminal.

Each command imports what it needs when it is called, so that `cdc --help` answers at once.
"""

import sys


def main() -> None:
    """Run the command line of this process; the console script's entry point."""
    from cdc.cli.run import run  # noqa: PLC0415 - not needed by those who import a part of us

    sys.exit(run(sys.argv[1:]))
