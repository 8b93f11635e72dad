"""Connections for reading: each serves one call at a time and is kept for the next."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, get_ident
from time import monotonic, sleep
from typing import TypeVar

from ...domain.errors import LedgerClosed, StoreBusy
from . import forks
from .connection import OpenConnection
from .session import SQLiteSession

T = TypeVar("T")

_KEPT = 8
"""Connections that are kept although nobody uses them."""

_PAUSE = 0.001
"""Seconds between two looks at whether a rare thing, a fork or a close, is over."""


class _Call:
    """A call in flight."""

    __slots__ = ("connection", "thread")

    def __init__(self) -> None:
        self.thread = get_ident()
        self.connection: OpenConnection | None = None


class Readers:
    """As many connections as there are calls at once, opened when they are needed.

    A signal handler may raise at any point of a call. So all that a call changes hangs on one
    object, which the call's own ``finally`` undoes, whatever had come of it; and only native
    locks are used, which ``with`` takes and gives back in one step.
    """

    def __init__(
        self, target: str, open_connection: Callable[[float], OpenConnection], lock_timeout: float
    ) -> None:
        self._target = target
        self._open = open_connection
        self._lock_timeout = lock_timeout
        self._closed = False
        self._lock = Lock()  # guards all that follows
        self._draining = False
        self._calls: set[_Call] = set()
        self._idle: list[OpenConnection] = []

    def call(self, work: Callable[[SQLiteSession], T], *, timeout: float | None = None) -> T:
        """What ``work`` returns, given a connection for itself.

        :raises LedgerClosed: after :meth:`close`.
        """
        call = _Call()
        try:
            return work(self._enter(call, timeout).session)
        finally:
            self._leave(call)

    def close(self, patience: float) -> None:
        """Refuse new calls, let those in flight end, close every connection."""
        self._closed = True
        self._empty(patience)

    def drain(self, patience: float) -> None:
        """Before a fork: let no call in, let those of other threads end, close the rest."""
        self._draining = True
        self._empty(patience)

    def resume(self) -> None:
        """After it, in the parent: let calls in again."""
        self._draining = False

    def resume_in_child(self) -> bool:
        """After it, in the child; False if the parent's connections are still about."""
        me = get_ident()
        lent = [call.connection for call in self._calls if call.connection is not None]
        strangers = [call for call in self._calls if call.thread != me]
        for connection in (*lent, *self._idle):
            forks.inherit(connection)
        clean = not (lent or strangers or self._idle)
        self._lock = Lock()  # another thread may have held it
        self._idle = []
        self._calls.difference_update(strangers)
        self._draining = False
        return clean

    def drop_idle(self) -> None:
        """Close what nobody uses: for good, or since its file has been replaced."""
        call = _Call()  # a fork has to wait for this, too
        try:
            while True:
                with self._lock:
                    self._calls.add(call)
                    if not self._idle:
                        return
                    call.connection = self._idle.pop()
                call.connection.close()
        finally:
            self._leave(call)

    def _enter(self, call: _Call, timeout: float | None) -> OpenConnection:
        wait = self._lock_timeout if timeout is None else timeout
        deadline = monotonic() + wait
        while True:
            with self._lock:
                if self._closed:
                    raise LedgerClosed(self._target, "the ledger was closed")
                if not self._draining:
                    self._calls.add(call)
                    if self._idle:
                        call.connection = self._idle.pop()
                    break
            if monotonic() > deadline:
                raise StoreBusy(self._target, "the process is forking")
            sleep(_PAUSE)
        connection = call.connection
        if connection is None:
            connection = call.connection = self._open(wait)
        connection.check_file()
        return connection

    def _leave(self, call: _Call) -> None:
        connection = call.connection
        with self._lock:
            keep = (
                connection is not None
                and connection.usable
                and len(self._idle) < _KEPT
                and not (self._closed or self._draining)
            )
            if keep and connection is not None:
                self._idle.append(connection)
                self._calls.discard(call)
                return
        if connection is not None:
            connection.close()
        with self._lock:
            self._calls.discard(call)

    def _empty(self, patience: float) -> None:
        me, deadline = get_ident(), monotonic() + patience
        while True:
            with self._lock:
                if all(call.thread == me for call in self._calls):
                    break
            if monotonic() > deadline:
                break
            sleep(_PAUSE)
        self.drop_idle()
