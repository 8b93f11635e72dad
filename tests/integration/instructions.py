"""How much work a statement is for SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def instructions_of(connection: sqlite3.Connection) -> Iterator[list[None]]:
    """One entry for each instruction that SQLite's virtual machine runs in here."""
    taken: list[None] = []
    connection.set_progress_handler(lambda: taken.append(None), 1)
    yield taken
    connection.set_progress_handler(None, 1)
