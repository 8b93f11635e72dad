"""The connection that writes: the threads of a process take turns on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock, get_ident
from time import monotonic
from typing import TypeVar

from ...domain.errors import LedgerClosed, StoreBusy
from . import forks
from .connection import OpenConnection
from .operator import SQLiteOperatorSession

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds beyond ``lock_timeout`` that a fork or close waits for calls in flight. What has not
ended by then is stuck in the caller's clock."""


class Writer:
    """One connection, opened when it is first needed, and the lock around it."""

    def __init__(
        self, target: str, open_connection: Callable[[float], OpenConnection], lock_timeout: float
    ) -> None:
        self._target = target
        self._open = open_connection
        self._lock_timeout = lock_timeout
        self._closed = False
        self._connection: OpenConnection | None = None
        self._turn = Lock()
        self._turn_of = 0
        """The thread whose turn it is, 0 for none."""
        self._drained = False
        """A fork holds the turn."""

    def call(
        self,
        work: Callable[[SQLiteOperatorSession], T],
        *,
        timeout: float | None = None,
        transaction: bool = True,
    ) -> T:
        """What ``work`` returns, alone with the connection.

        In a transaction that is committed if it returns, unless the call only reads.

        :raises StoreBusy: if the turn or the write lock is not to be had in time, or if this
            thread has the turn already: the clock has called back.
        :raises LedgerClosed: after :meth:`close`.
        """
        me = get_ident()
        if self._turn_of == me:
            raise StoreBusy(self._target, "this thread is inside a call already")
        wait = self._lock_timeout if timeout is None else timeout
        deadline = monotonic() + wait
        # A loop that runs once at most: between the lock's own "yes" and the "try" no signal
        # handler can run, as one could between a call and the use of what it returned.
        for _ in iter(partial(self._turn.acquire, True, wait), False):  # noqa: FBT003
            try:
                self._turn_of = me
                connection = self._connection
                if connection is None or self._closed:
                    connection = self._ready(deadline)
                if not transaction:
                    return work(connection.session)
                connection.begin(deadline - monotonic() if wait else 0.0)
                result = work(connection.session)
                connection.commit()
                return result
            finally:
                try:
                    self._tidy()
                finally:
                    self._turn_of = 0
                    self._turn.release()
        raise StoreBusy(self._target, "another thread of this process is writing")

    def close(self, patience: float) -> None:
        """Refuse new calls, let the one in flight end, close the connection."""
        self._closed = True
        self.drain(patience)
        self.resume()

    def drain(self, patience: float, *, close: bool = True) -> None:
        """Before a fork: let another thread's call end, close the connection, keep the turn."""
        if self._turn_of == get_ident():
            return  # the call that goes on is this thread's own
        for _ in iter(partial(self._turn.acquire, True, patience), False):  # noqa: FBT003
            self._drained = True
            if close:
                self._drop()
            return

    def resume(self) -> None:
        """Give back the turn that :meth:`drain` took."""
        if self._drained:
            self._drained = False
            self._turn.release()

    def resume_in_child(self) -> bool:
        """After a fork, in the child; False if the parent's connection is still about."""
        connection, self._connection = self._connection, None
        if connection is not None:
            forks.inherit(connection)
        stuck = not self._drained and self._turn.locked()
        if self._drained or self._turn_of != get_ident():
            self._turn, self._turn_of = Lock(), 0  # held for the fork, or by a stranger
        self._drained = False
        return connection is None and not stuck

    def check_open(self) -> None:
        """Raise ``LedgerClosed`` after :meth:`close`."""
        if self._closed:
            raise LedgerClosed(self._target, "the ledger was closed")

    def _ready(self, deadline: float) -> OpenConnection:
        self.check_open()
        self._connection = connection = self._open(max(0.0, deadline - monotonic()))
        return connection

    def _tidy(self) -> None:
        """Whatever has happened: leave no transaction, and no connection past its use."""
        connection = self._connection
        if connection is None or (connection.is_at_rest() and not self._closed):
            return
        connection.roll_back()
        if self._closed or not connection.usable:
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
