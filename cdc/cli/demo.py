"""`cdc demo`: the product in a minute."""

from typing import Annotated

import typer

from cdc.cli import session


def demo(
    context: typer.Context,
    orders: Annotated[
        int, typer.Option("--orders", metavar="N", min=1, help="How many orders the shop has.")
    ] = 100_000,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", min=1, help="How long people work in it.")
    ] = 5.0,
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the stack running.")] = False,
) -> None:
    """Show the whole road on a sample shop, on a stack of its own, and clean up.

    Starts everything, fills a shop, captures it, works in it, and compares every row of it with
    what arrived in the topics. Exit code 1 if a single one differs.
    """
    from cdc.demo.run import run_demo  # noqa: PLC0415 - slow
    from cdc.stack.stack import Stack  # noqa: PLC0415 - slow

    current = session.of(context)
    place = current.state_dir.with_name(f"{current.state_dir.name}-demo")
    run_demo(Stack(place), current.out, orders=orders, seconds=seconds, keep=keep)
