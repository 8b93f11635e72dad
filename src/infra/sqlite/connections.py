"""The connections of one ledger object: one that writes, and some that read.

One thread of the process writes at a time; which process writes, SQLite decides.
"""

from __future__ import annotations

import os
from types import TracebackType

from ...domain.errors import StoreUnavailable
from . import forks
from .link import Link
from .opening import Durability, open_file, open_memory
from .readers import Readers
from .session import SQLiteSession
from .writer import Writer

_PATIENCE = 10.0
"""Seconds beyond ``lock_timeout`` that a fork or close waits for calls in flight. What has not
ended by then is stuck in the caller's clock."""


class Connections:
    """The connections to the ledger in a file: the ``Database`` of this dialect."""

    def __init__(self, path: str, durability: Durability, lock_timeout: float) -> None:
        self.target = path
        self._durability = durability
        self._lock_timeout = lock_timeout
        self._ledger_id: str | None = None
        patience = lock_timeout + _PATIENCE
        self.readers = Readers(path, self._open_reader, patience)
        self.writer = Writer(path, self._open_writer, lock_timeout, patience)
        self._drained = False
        forks.watch(self)

    def reading(self) -> Reading:
        """A session that takes no write lock and never creates a ledger.

        :raises StoreUnavailable: if there is no such file.
        :raises NotALedger: if the file holds no ledger.
        """
        return Reading(self)

    def writing(self, *, wait: bool = True) -> Writing:
        """A session inside one write transaction: committed at the end, or not at all.

        :raises StoreBusy: if others hold the write lock, for longer than ``lock_timeout`` or,
            without ``wait``, at all.
        """
        return Writing(self.writer, wait=wait)

    def borrow(self) -> Link:
        """A connection for a call that reads."""
        link = self.readers.borrow()
        try:
            link.check_file()
        except BaseException:
            self.readers.give_back(link)
            self.readers.drop_idle()
            raise
        return link

    def give_back(self, link: Link) -> None:
        """That call is over."""
        self.readers.give_back(link)

    def close(self) -> None:
        """Refuse new calls, let those in flight end, close every connection."""
        self.readers.close()
        self.writer.close()
        forks.forget(self)

    def drain(self) -> None:
        """Before a fork: let no call in, and close every connection."""
        self.readers.drain()
        self._drained = self.writer.drain()

    def resume(self) -> None:
        """After it, in the parent: let calls in again."""
        if self._drained:
            self.writer.resume()
        self.readers.resume()

    def resume_in_child(self) -> None:
        """After it, in the child."""
        self.writer.resume_in_child(drained=self._drained)
        self.readers.resume_in_child()

    def _open_reader(self) -> Link:
        return self._open(create=False, write=False)

    def _open_writer(self) -> Link:
        # Once a ledger was here, its absence is a fault: a new one would forget who has won.
        link = self._open(create=self._ledger_id is None, write=True)
        link.set_timeout(0)  # see Writer: waiting is the exception
        return link

    def _open(self, *, create: bool, write: bool) -> Link:
        forks.refuse_inherited(self.target)
        connection, identity, ledger_id = open_file(
            self.target, self._durability, self._lock_timeout, create=create, write=write
        )
        if self._ledger_id not in (None, ledger_id):
            connection.close()
            raise StoreUnavailable(self.target, "another ledger has taken the place of this one")
        self._ledger_id = ledger_id
        return Link(connection, self.target, identity)


class MemoryConnections(Connections):
    """A ledger in memory: one connection, and whoever uses it has it alone."""

    def __init__(self, lock_timeout: float) -> None:
        super().__init__(":memory:", "normal", lock_timeout)
        self._memory: Link | None = Link(open_memory(), self.target, None)

    def borrow(self) -> Link:
        """The one connection."""
        return self.writer.take_turn(wait=True)

    def give_back(self, link: Link) -> None:  # noqa: ARG002 - there is only one
        """That call is over."""
        self.writer.give_turn()

    def drain(self) -> None:
        """The connection stays open: it is the ledger. The child will refuse its copy."""
        self._drained = self.writer.drain(close=False)

    def _open_writer(self) -> Link:
        link, self._memory = self._memory, None
        if link is None:
            raise StoreUnavailable(self.target, "a ledger in memory stays in its own process")
        return link


class Reading:
    """A session for one call that reads."""

    __slots__ = ("_connections", "_link")

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __enter__(self) -> SQLiteSession:
        self._link = self._connections.borrow()
        return self._link.session

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connections.give_back(self._link)


class Writing:
    """A session for one write transaction: committed if nothing was raised in it."""

    __slots__ = ("_link", "_wait", "_writer")

    def __init__(self, writer: Writer, *, wait: bool) -> None:
        self._writer = writer
        self._wait = wait

    def __enter__(self) -> SQLiteSession:
        self._link = self._writer.begin(wait=self._wait)
        return self._link.session

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._link.commit()
        finally:
            self._writer.end(self._link)


def connections_to(target: str, *, durability: Durability, lock_timeout: float) -> Connections:
    """Connections to the ledger at a path, or to a new one in ``":memory:"``."""
    if target == ":memory:":
        return MemoryConnections(lock_timeout)
    # Absolute, so that the ledger stays the same when the process changes its directory.
    return Connections(os.path.abspath(target), durability, lock_timeout)
