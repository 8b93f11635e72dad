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

from .files import database_uri

_PAGES = 4000
"""About how long it gets: the longer, the more seldom it is copied, and what has been written more
than once is copied once."""

_BYTES = _PAGES * (4096 + 24)

USUAL_LENGTH = _BYTES
"""For whoever looks at it from outside."""

SETTINGS = f"PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = {_BYTES}"
"""For connections that write. The limit shortens the file when the WAL begins anew, so its size
shows whether much has been written since."""

_SELDOM = 16
"""Transactions between two looks."""


class Wal:
    """The WAL of a ledger, as a connection that writes sees it."""

    __slots__ = ("_begun", "_path")

    def __init__(self, ledger: str) -> None:
        """For the ledger at a path."""
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


def connection_that_copies(ledger: str) -> sqlite3.Connection:
    """For :data:`COPY_BACK`, since a connection in a transaction cannot."""
    connection = sqlite3.connect(database_uri(ledger, create=False), uri=True, isolation_level=None)
    try:
        connection.executescript("PRAGMA synchronous = FULL; PRAGMA checkpoint_fullfsync = ON")
    except BaseException:  # or it would stay open until somebody collects it
        connection.close()
        raise
    return connection


COPY_BACK = "PRAGMA wal_checkpoint(PASSIVE)"
"""Passive: it waits for nobody, and leaves for later what readers still need."""
