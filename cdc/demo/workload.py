"""People at work in the shop: several connections that order, pay, change and cancel."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import psycopg

from cdc.demo.shop import Size

CONNECTIONS = 3


@dataclass
class Work:
    """What was committed, by kind; `rolled_back` counts transactions that must leave no trace."""

    changes: Counter[str] = field(default_factory=Counter)
    transactions: int = 0
    rolled_back: int = 0


def run(
    conninfo: str, size: Size, seconds: float, seed: int, progress: Callable[[str], None]
) -> Work:
    """Work for so many seconds on several connections at once; return what was committed."""
    total = Work()
    adding = threading.Lock()
    until = time.monotonic() + seconds

    def person(number: int) -> None:
        # Not for secrets: the same seed shall give the same shoppers.
        dice = random.Random(seed * 1000 + number)  # noqa: S311
        said = time.monotonic()
        with psycopg.connect(conninfo) as connection:
            while time.monotonic() < until:
                done = _one_transaction(connection, dice, size)
                with adding:
                    total.changes.update(done or {})
                    total.transactions += 1
                    total.rolled_back += done is None
                if number == 0 and time.monotonic() >= said + 1:
                    said = time.monotonic()
                    progress(f"{total.changes.total():,} changes committed")

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for person_done in [pool.submit(person, number) for number in range(CONNECTIONS)]:
            person_done.result()
    return total


def _one_transaction(
    connection: psycopg.Connection, dice: random.Random, size: Size
) -> Counter[str] | None:
    step = dice.choices(
        [_order, _pay, _cancel, _move_house, _reprice], weights=[40, 30, 10, 10, 10]
    )[0]
    try:
        done = step(connection, dice, size)
    except psycopg.errors.DeadlockDetected:
        connection.rollback()
        return None
    if dice.random() < 0.05:  # noqa: PLR2004 - one in twenty changes their mind
        connection.rollback()
        return None
    connection.commit()
    return done


def _order(connection: psycopg.Connection, dice: random.Random, size: Size) -> Counter[str]:
    lines = dice.randint(1, 3)
    row = connection.execute(
        "INSERT INTO orders (customer_id, status, total, gift, note, placed_at) "
        "VALUES (%s, 'placed', %s, %s, %s, clock_timestamp()) RETURNING id",
        (
            dice.randint(1, size.customers),
            dice.randint(100, 99_999) / 100,
            dice.random() < 0.1,  # noqa: PLR2004 - one in ten is a gift
            dice.choice([None, "ring twice", "🎁 wrap it, please"]),
        ),
    ).fetchone()
    for line in range(1, lines + 1):
        connection.execute(
            "INSERT INTO order_items VALUES (%s, %s, %s, %s, %s)",
            (row and row[0], line, dice.randint(1, size.products), dice.randint(1, 4), 9.99),
        )
    return Counter(insert=1 + lines)


def _pay(connection: psycopg.Connection, dice: random.Random, size: Size) -> Counter[str]:
    changed = connection.execute(
        "UPDATE orders SET status = 'paid', total = total + 1 WHERE id = %s",
        (dice.randint(1, size.orders),),
    )
    return Counter(update=changed.rowcount)


def _cancel(connection: psycopg.Connection, dice: random.Random, size: Size) -> Counter[str]:
    order = (dice.randint(1, size.orders),)
    items = connection.execute("DELETE FROM order_items WHERE order_id = %s", order).rowcount
    orders = connection.execute("DELETE FROM orders WHERE id = %s", order).rowcount
    return Counter(delete=items + orders)


def _move_house(connection: psycopg.Connection, dice: random.Random, size: Size) -> Counter[str]:
    changed = connection.execute(
        "UPDATE customers SET email = %s WHERE id = %s",
        (f"moved{dice.randint(0, 10**6)}@example.com", dice.randint(1, size.customers)),
    )
    return Counter(update=changed.rowcount)


def _reprice(connection: psycopg.Connection, dice: random.Random, size: Size) -> Counter[str]:
    changed = connection.execute(
        "UPDATE products SET price = %s WHERE id = %s",
        (dice.randint(100, 50_000) / 100, dice.randint(1, size.products)),
    )
    return Counter(update=changed.rowcount)
