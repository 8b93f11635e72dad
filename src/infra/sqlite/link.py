"""One connection, and what its keepers must know of it."""

from __future__ import annotations

import sqlite3

from ...domain.errors import StoreUnavailable
from .errors import primary_code, store_error
from .files import FileIdentity, file_identity
from .session import SQLiteSession


class Link:
    """An open connection to a ledger."""

    __slots__ = ("connection", "execute", "forked", "identity", "session", "target", "usable")

    def __init__(
        self, connection: sqlite3.Connection, target: str, identity: FileIdentity | None
    ) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.target = target
        self.identity = identity
        """The file that it is to; None for memory."""
        self.session = SQLiteSession(connection, target)
        self.usable = True
        """Whether it may serve another call."""
        self.forked = False
        """In a child process, with a connection that is the parent's: not to be touched."""

    def set_timeout(self, seconds: float) -> None:
        """How long each statement waits for other connections."""
        self.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    def check_file(self) -> None:
        """Refuse to go on with a file that is no longer the one at our path.

        SQLite would go on with an unlinked file, and what it acknowledged would be lost.
        """
        if self.identity is not None and file_identity(self.target) != self.identity:
            self.usable = False
            raise StoreUnavailable(self.target, "the file was moved, removed or replaced")

    def commit(self) -> None:
        """Commit, and say so if nobody can know whether it happened."""
        if self.forked:
            raise StoreUnavailable(self.target, "the process forked inside this call")
        try:
            self.execute("COMMIT")
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
            self.execute("ROLLBACK")
        except sqlite3.Error:
            self.usable = False  # closing it rolls back

    def close(self) -> None:
        """Close the connection, unless it is another process's."""
        self.usable = False
        if not self.forked:
            self.connection.close()
