"""One open connection, and what its keepers must know of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import Self

from ...domain.errors import StoreUnavailable
from . import wal
from .errors import DATABASE_ERRORS, primary_code, store_error
from .expected import LedgerIdentity
from .files import FileIdentity, file_identity, is_at
from .operator import SQLiteOperatorSession


class OpenConnection:
    """A connection to a ledger."""

    __slots__ = (
        "_execute",
        "connection",
        "identity",
        "inherited",
        "ledger",
        "session",
        "target",
        "usable",
        "wal",
    )

    def __init__(
        self,
        connection: sqlite3.Connection,
        target: str,
        identity: FileIdentity | None,
        ledger: LedgerIdentity | None = None,
        *,
        reading: bool = False,
    ) -> None:
        self.connection = connection
        self.target = target
        self.identity = identity
        """The file that it is to; None for memory."""
        self.ledger = ledger
        """The ledger; None where there may be none yet, or it is always the same one."""
        self.wal = None if identity is None or reading else wal.Wal(target)
        self.session = SQLiteOperatorSession(connection, target, reading=reading)
        self._execute = self.session.execute
        self.usable = True
        """Whether it may serve another call."""
        self.inherited = False
        """It is the parent process's: not to be touched."""

    def set_up(self, wait: float, *settings: str) -> Self:
        """Have its statements wait so many seconds for others from now on.

        One that cannot be set up is closed: nobody else knows of it yet.
        """
        try:
            self.session.wait_for_others(wait)
            for setting in settings:
                self._execute(setting)
        except BaseException as error:
            self.close()
            if isinstance(error, DATABASE_ERRORS):
                raise store_error(error, self.target) from error
            raise
        return self

    def is_in_place(self) -> bool:
        """Whether its file is still the one at our path."""
        return self.identity is None or is_at(self.target, self.identity)

    def check_file(self) -> None:
        """Refuse to go on with a file that is no longer the one at our path.

        SQLite would go on with an unlinked file, and what it acknowledged would be lost.
        """
        if self.identity is not None and not is_at(self.target, self.identity):
            self.usable = False
            file_identity(self.target)  # which may know better what is wrong
            raise StoreUnavailable(self.target, "the file was moved, removed or replaced")

    def begin(self) -> None:
        """Take the write lock.

        Immediate: a deferred transaction that reads first fails at once when another writer
        commits in between, whatever the timeout.

        :raises StoreBusy: if another connection has it.
        """
        if self.connection.in_transaction:
            self.roll_back()  # what a signal has left behind
            if not self.usable:
                raise StoreUnavailable(self.target, "a transaction could not be rolled back")
        self._refuse_if_inherited()
        try:
            self._execute("BEGIN IMMEDIATE")
            if self.inherited:
                self._execute("ROLLBACK")  # this lock is the child's own: give it back
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        self._refuse_if_inherited()
        self.check_file()

    def copy_wal_back(self) -> None:
        """Copy the WAL, while the write lock is held and nothing has been written.

        This transaction still reads in it, so it ends here: the next one can begin the WAL anew.
        Where the copying fails, that one will tell whether the disk is at fault.
        """
        with (
            suppress(*DATABASE_ERRORS),
            closing(wal.connection_that_copies(self.target)) as connection,
        ):
            execute = connection.execute
            if not self.inherited:  # by a child that a signal handler has just forked
                execute(wal.COPY_BACK).fetchall()
        self.roll_back()

    def refresh_identity(self) -> None:
        """See in a transaction which ledger it is. As long as it has no event, that may change."""
        if self.ledger is not None:
            self.ledger = LedgerIdentity(self.session.ledger_id(), self.session.head_sequence() > 0)

    def commit(self) -> None:
        """Commit, and say so if nobody can know whether it happened."""
        self._refuse_if_inherited()
        try:
            self._execute("COMMIT")
            self._refuse_if_inherited()  # it is the parent's commit
        except DATABASE_ERRORS as error:
            # A busy commit did not happen. After any other failure (a sync that reported an
            # error, say) the next start of the database may find it complete.
            unknown = primary_code(error) != sqlite3.SQLITE_BUSY
            raise store_error(error, self.target, outcome_unknown=unknown) from error

    def _refuse_if_inherited(self) -> None:
        if self.inherited:
            raise StoreUnavailable(self.target, "the process forked inside this call")

    def is_at_rest(self) -> bool:
        """Whether it has no transaction and may serve another call."""
        return self.usable and not self.connection.in_transaction

    def roll_back(self) -> None:
        """End the transaction, if there is one, as if it had not begun."""
        if self.inherited or not self.connection.in_transaction:
            return
        try:
            self._execute("ROLLBACK")
        except (*DATABASE_ERRORS, MemoryError):
            self.usable = False  # closing it rolls back

    def close(self) -> None:
        """Close the connection, unless it is another process's."""
        self.usable = False
        if not self.inherited:
            self.connection.close()
