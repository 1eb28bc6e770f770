"""What the restart test writes: big copies, held transactions, hot keys, deletions."""

import random
import threading
from dataclasses import dataclass, field

import psycopg

SCHEMA = """
CREATE TABLE ledger (
    id bigint PRIMARY KEY, round int NOT NULL, version int NOT NULL, payload text NOT NULL);
ALTER TABLE ledger REPLICA IDENTITY FULL;
"""
COPY_ROWS = 5_000
HELD_ROWS = 500
HOT_KEYS = 40


@dataclass
class Round:
    """One round's transactions, each on a connection of its own.

    The copy is one transaction of thousands of rows that share a moment; the held one is open
    while others commit around it; the rest is small and quick.
    """

    conninfo: str
    number: int
    dice: random.Random
    stop: threading.Event = field(default_factory=threading.Event)

    def hold(self) -> psycopg.Connection:
        """Open a transaction with rows in it and leave it open."""
        connection = psycopg.connect(self.conninfo)
        connection.execute(
            "INSERT INTO ledger SELECT n, %s, 1, 'held' FROM generate_series(%s::bigint, %s) n",
            (self.number, self._base() + 10_000, self._base() + 10_000 + HELD_ROWS - 1),
        )
        return connection

    def copy(self) -> None:
        """Bring thousands of rows in one transaction, as COPY."""
        with psycopg.connect(self.conninfo) as connection:
            with connection.cursor().copy("COPY ledger FROM STDIN") as copy:
                for n in range(COPY_ROWS):
                    copy.write_row((self._base() + n, self.number, 1, f"copied {n}"))
            connection.execute(
                "DELETE FROM ledger WHERE id BETWEEN %s AND %s AND id %% 7 = 0",
                (self._base(), self._base() + COPY_ROWS),
            )

    def small_transactions(self) -> None:
        """Insert, update, delete and insert again the same few keys until told to stop."""
        with psycopg.connect(self.conninfo) as connection:
            while not self.stop.is_set():
                key = -self.dice.randint(1, HOT_KEYS)
                connection.execute(
                    "INSERT INTO ledger VALUES (%s, %s, 1, 'hot') ON CONFLICT (id) "
                    "DO UPDATE SET version = ledger.version + 1, round = excluded.round",
                    (key, self.number),
                )
                if self.dice.random() < 0.2:
                    connection.execute("DELETE FROM ledger WHERE id = %s", (key,))
                if self.dice.random() < 0.1:
                    connection.rollback()
                else:
                    connection.commit()

    def _base(self) -> int:
        return self.number * 100_000
