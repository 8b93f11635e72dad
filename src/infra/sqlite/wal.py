"""The WAL: it is copied into the database, so that it can begin anew.

SQLite calls this a checkpoint, a word that has another meaning here. It is done by the leader that
has just taken the write lock, and not by SQLite after a commit. For builds of SQLite from 3.7.0 to
3.51.2 (but for 3.44.6 and 3.50.7) can lose what was committed if a transaction begins the WAL anew
while a copying starts (https://sqlite.org/wal.html#walresetbug). While the write lock is held,
nobody can.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress

from .errors import DATABASE_ERRORS
from .files import database_uri

PAGES = 4000
"""About how long it gets: the longer, the more seldom it is copied, and what has been written more
than once is copied once."""

_BYTES = PAGES * (4096 + 24)

SETTINGS = f"PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = {_BYTES}"
"""For connections that write. The limit makes the file that long again once it has been copied, so
that its size tells how long it is."""

_SELDOM = 16
"""Transactions between two looks."""


class Wal:
    """The WAL of a ledger, as a connection that writes sees it."""

    __slots__ = ("_begun", "_ledger", "_path")

    def __init__(self, ledger: str) -> None:
        """For the ledger at a path."""
        self._ledger = ledger
        self._path = f"{os.path.realpath(ledger)}-wal"
        self._begun = 0

    def is_long(self, *, large: bool) -> bool:
        """Whether it should be copied. To be asked once in each transaction: it looks seldom.

        :param large: the transaction may be one that writes much.
        """
        self._begun += 1
        # Also in the first one: there may be none but short-lived processes.
        if not large and self._begun % _SELDOM != 1:
            return False
        try:
            return os.stat(self._path).st_size > _BYTES
        except OSError:  # it is not there yet
            return False

    def copy_back(self) -> None:
        """Copy it. To be called while the write lock is held and nothing has been written.

        This transaction still reads in it, so it is the next one that can begin it anew.
        """
        # On a connection of its own, since this one is in a transaction. Where it fails, the
        # transaction will tell whether the disk is at fault.
        with (
            suppress(*DATABASE_ERRORS),
            closing(
                sqlite3.connect(
                    database_uri(self._ledger, create=False), uri=True, isolation_level=None
                )
            ) as connection,
        ):
            # Passive: it waits for nobody, and leaves for later what readers still need.
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
