"""One connection, and what the pool must know of it."""

from __future__ import annotations

import sqlite3

from ...domain.errors import StoreUnavailable
from .errors import primary_code, store_error
from .files import FileIdentity
from .session import SQLiteSession

_SLACK = 10
"""Milliseconds by which a connection may wait longer than it was told: saves a statement."""


class Link:
    """An open connection to a ledger."""

    __slots__ = ("_timeout", "connection", "forked", "identity", "session", "target", "usable")

    def __init__(
        self,
        connection: sqlite3.Connection,
        target: str,
        identity: FileIdentity | None,
        timeout: float,
    ) -> None:
        self.connection = connection
        self.target = target
        self.identity = identity
        """The file that it is to; None for memory."""
        self.session = SQLiteSession(connection, target)
        self._timeout = int(timeout * 1000)
        self.usable = True
        """Whether it may be lent again."""
        self.forked = False
        """In a child process, with a connection that is the parent's: not to be touched."""

    def begin(self, timeout: float) -> None:
        """Take the write lock, waiting for it up to ``timeout`` seconds.

        Immediate, since a deferred transaction that reads first fails at once when another
        writer commits in between, whatever the timeout.
        """
        milliseconds = int(timeout * 1000)
        if milliseconds < self._timeout - _SLACK or milliseconds > self._timeout:
            self.connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
            self._timeout = milliseconds
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit, and say so if nobody can know whether it happened."""
        if self.forked:
            raise StoreUnavailable(self.target, "the process forked inside this call")
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            # A busy commit did not happen. After any other failure (a sync that reported an
            # error, say) the next start of the database may find it complete.
            unknown = primary_code(error) != sqlite3.SQLITE_BUSY
            raise store_error(error, self.target, outcome_unknown=unknown) from error

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not begun."""
        if self.forked or not self.connection.in_transaction:
            return
        try:
            self.connection.execute("ROLLBACK")
        except sqlite3.Error:
            self.usable = False  # closing it rolls back

    def close(self) -> None:
        """Close the connection, unless it is another process's."""
        self.usable = False
        if not self.forked:
            self.connection.close()
