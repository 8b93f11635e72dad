"""A ledger in memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from ...domain.errors import StoreUnavailable
from . import forks
from .calls import Client
from .connection import OpenConnection
from .opening import open_memory
from .operator import SQLiteOperatorSession
from .session import SQLiteSession
from .writer import PATIENCE, Writer

T = TypeVar("T")


class MemoryDatabase(Client):
    """A ledger in memory: one connection, and whoever uses it has it alone."""

    def __init__(self, lock_timeout: float) -> None:
        super().__init__(":memory:", lock_timeout)
        self._patience = lock_timeout + PATIENCE
        self._memory: OpenConnection | None = OpenConnection(open_memory(), self.target, None)
        self.writer = Writer(self.target, in_memory=True)
        forks.watch(self)

    def place(self) -> Hashable:
        """It has no place but itself."""
        return self

    def read(
        self, work: Callable[[SQLiteOperatorSession], T], *, timeout: float | None = None
    ) -> T:
        """What ``work`` returns, given the session."""
        return self.writer.read(self, work, timeout=timeout)

    def winner(self, stream: str, workspace: str) -> str | None:
        """What the table of winners says."""
        return self.read(lambda session: session.winner((stream, workspace)))

    def submit(self, work: Callable[[SQLiteSession], T], shortcut: Callable[[], T | None]) -> T:
        """What ``work`` returns, given the session inside a transaction."""
        return self.writer.call(self, work, shortcut=shortcut, alone=False)

    def write(
        self, work: Callable[[SQLiteOperatorSession], T], *, timeout: float | None = None
    ) -> T:
        """What ``work`` returns, given the session inside a transaction."""
        return self.writer.call(self, work, timeout=timeout)

    def establish(self, work: Callable[[SQLiteOperatorSession], T], *, create: bool) -> T:  # noqa: ARG002 - the ledger is there
        """What ``work`` returns, given a session in which it makes the ledger itself."""
        return self.write(work)

    def close(self) -> None:
        """Refuse new calls, let the one in flight end, and forget everything."""
        self.closed = True
        self.writer.leave(self, self._patience)
        if self._memory is not None:
            self._memory.close()

    def drain(self) -> None:
        """Before a fork: the connection stays open, since it is the ledger."""

    def resume(self) -> None:
        """After it, in the parent."""

    def resume_in_child(self) -> None:
        """After it, in the child: a copy that decides beside the original is refused."""
        self._memory = None

    def open_writer(self, _: float) -> OpenConnection:
        """The one connection there is."""
        self.check_open()
        memory, self._memory = self._memory, None
        if memory is None:
            raise StoreUnavailable(self.target, "a ledger in memory stays in its own process")
        return memory
