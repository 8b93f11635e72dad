"""A ledger in a file, or in memory: the ``Database`` of this dialect."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from ...domain.errors import StoreUnavailable
from ..database import Durability
from . import forks
from .calls import Client
from .connection import OpenConnection
from .files import FileIdentity, file_identity
from .making import make, make_in
from .memory import MemoryDatabase
from .opening import open_file
from .operator import SQLiteOperatorSession
from .readers import Readers
from .session import SQLiteSession
from .writer import PATIENCE, Writer

T = TypeVar("T")


_ROOMY = "PRAGMA cache_size = -16384"
"""KiB. A page of a rebuild finds the events again, which the guards look up for its rows."""

_STALENESS = 0.001
"""Seconds for which one look at the file does for those who ask for winners: it takes half as
long as the answer, and who has won stays true of the ledger that was there."""

_winner = SQLiteOperatorSession.winner


def _do(session: SQLiteOperatorSession, work: Callable[[SQLiteOperatorSession], T]) -> T:
    return work(session)


class FileDatabase(Client):
    """A ledger in a file: one connection that writes, and some that read.

    One thread of the process writes at a time; which process writes, SQLite decides. Callers'
    ledgers at one path, of one durability, share the connection that writes: what waits for it
    is committed together.
    """

    def __init__(
        self,
        path: str,
        durability: Durability,
        lock_timeout: float,
        *,
        incomplete: bool = False,
    ) -> None:
        """By default, for a ledger that has all its parts.

        :param incomplete: for an operator: its read models may be missing, and long runs get
            more room for pages.
        """
        super().__init__(path, lock_timeout)
        self._incomplete = incomplete
        self._durability: Durability = durability
        self._patience = lock_timeout + PATIENCE
        self.readers = Readers(path, self._open_reader, lock_timeout)
        self.writer = Writer(path) if incomplete else _shared_writer(path, durability)
        forks.watch(self)

    def place(self) -> FileIdentity:
        """Which file it is.

        :raises StoreUnavailable: if there is none.
        """
        identity = file_identity(self.target)
        if identity is None:
            raise StoreUnavailable(self.target, "there is no such file")
        return identity

    def read(
        self, work: Callable[[SQLiteOperatorSession], T], *, timeout: float | None = None
    ) -> T:
        """What ``work`` returns, given a session that takes no write lock.

        :raises StoreUnavailable: if there is no such file.
        :raises NotALedger: if the file holds no ledger.
        """
        return self.readers.call(_do, work, timeout)

    def winner(self, stream: str, workspace: str) -> str | None:
        """What the table of winners says, perhaps of a file that has just been replaced."""
        return self.readers.call(_winner, (stream, workspace), None, _STALENESS)

    def submit(self, work: Callable[[SQLiteSession], T], shortcut: Callable[[], T | None]) -> T:
        """What ``work`` returns, given a session inside a write transaction."""
        done = self.writer.call(self, work, shortcut=shortcut, alone=False)
        self.expected.mark_decided()
        return done

    def write(
        self, work: Callable[[SQLiteOperatorSession], T], *, timeout: float | None = None
    ) -> T:
        """What ``work`` returns, given a session inside a write transaction of its own.

        :raises StoreBusy: if others hold the write lock for longer than ``timeout`` seconds.
        """
        return self.writer.call(self, work, timeout=timeout)

    def establish(self, work: Callable[[SQLiteOperatorSession], T], *, create: bool) -> T:
        """What ``work`` returns, given a session in which it makes the ledger itself.

        :param create: the file, too, if there is none.
        """
        self.check_open()
        made = create and file_identity(self.target) is None
        established = (make if made else make_in)(
            self.target, self._durability, self.lock_timeout, work
        )
        self.expected.forget()
        return established

    def close(self) -> None:
        """Refuse new calls, let those in flight end, close every connection."""
        self.closed = True
        self.readers.close(self._patience)
        self.writer.leave(self, self._patience)

    def drain(self) -> None:
        """Before a fork: let no call in that reads, and close what reads."""
        self.readers.drain(self._patience)

    def resume(self) -> None:
        """After it, in the parent: let calls in again."""
        self.readers.resume()

    def resume_in_child(self) -> None:
        """After it, in the child."""
        if not self.readers.resume_in_child():
            forks.refuse(self.target)

    def open_writer(self, timeout: float) -> OpenConnection:
        """A connection that writes, for all that share the writer."""
        self.check_open()
        # Once a ledger was here, its absence is a fault: a new one would forget who has won.
        connection = self._open(timeout, create=self.expected.identity is None, write=True)
        connection.session.wait_for_others(0)  # who waits for whom is decided elsewhere
        return connection

    def _open_reader(self, timeout: float) -> OpenConnection:
        connection = self._open(timeout, create=False, write=False)
        try:
            self.expected.check(connection.ledger)
            # Whoever opened it may have been in a hurry; those who come after need not be.
            connection.session.wait_for_others(self.lock_timeout)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self, timeout: float, *, create: bool, write: bool) -> OpenConnection:
        forks.check(self.target)
        connection, identity, known = open_file(
            self.target,
            self._durability,
            timeout,
            create=create,
            write=write,
            incomplete=self._incomplete,
        )
        if self._incomplete:
            connection.execute(_ROOMY)
        return OpenConnection(connection, self.target, identity, known, reading=not write)


_writers: WeakValueDictionary[tuple[str, Durability], Writer] = WeakValueDictionary()
"""Those that callers' ledgers share, for as long as any of these is there."""


def _shared_writer(path: str, durability: Durability) -> Writer:
    writer = _writers.get((path, durability))
    if writer is None:
        # Should two threads be here at once, each may get its own: that only costs the sharing.
        _writers[path, durability] = writer = Writer(path)
    return writer


def open_database(
    target: str, *, durability: Durability, lock_timeout: float, incomplete: bool = False
) -> FileDatabase | MemoryDatabase:
    """The ledger at a path, or a new one in ``":memory:"``. No file is opened or made yet."""
    if target == ":memory:":
        return MemoryDatabase(lock_timeout)
    # Absolute, so that the ledger stays the same when the process changes its directory; not
    # normalised, since ".." behind a symbolic link leads elsewhere than its text says.
    path = os.path.join(os.getcwd(), target)
    return FileDatabase(path, durability, lock_timeout, incomplete=incomplete)
