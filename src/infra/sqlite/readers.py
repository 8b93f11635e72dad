"""Connections for reading: each serves one call at a time and is kept for the next."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from time import monotonic, sleep
from typing import TypeVar

from ...domain.errors import LedgerClosed, StoreBusy, StoreUnavailable
from . import forks
from .connection import OpenConnection
from .operator import SQLiteOperatorSession

T = TypeVar("T")

_MOST = 32
"""Connections at once: where hundreds of calls come together, they take turns on these."""

_KEPT = 8
"""Connections that are kept although nobody uses them."""

_PAUSE, _LONGEST_PAUSE = 0.001, 0.02
"""Seconds between two looks at whether a rare thing (a fork, a close, a crowd) is over."""


class _Call:
    """A call in flight."""

    __slots__ = ("connection", "has_one", "thread")

    def __init__(self) -> None:
        self.thread = get_ident()
        self.has_one = False
        """Whether it has a connection, or is about to."""
        self.connection: OpenConnection | None = None


class Readers:
    """As many connections as there are calls at once, opened when they are needed.

    A signal handler may run at any point of a call; it may raise, fork, or call the ledger
    itself. So there is no lock that it could find taken: sets and lists change in one step
    each, and whoever wants all calls to end (a fork, a close) says so first and looks at the
    calls afterwards, while a call enters itself first and looks whether it may go on afterwards.
    """

    def __init__(
        self, target: str, open_connection: Callable[[float], OpenConnection], lock_timeout: float
    ) -> None:
        self._target = target
        self._open = open_connection
        self._lock_timeout = lock_timeout
        self._closed = False
        self._draining = False
        self._calls: set[_Call] = set()
        self._idle: list[OpenConnection] = []

    def call(
        self, work: Callable[[SQLiteOperatorSession], T], *, timeout: float | None = None
    ) -> T:
        """What ``work`` returns, given a connection for itself.

        :raises LedgerClosed: after :meth:`close`.
        """
        call = _Call()
        try:
            return work(self._enter(call, timeout).session)
        finally:
            try:
                self._give_back(call)
            finally:
                self._calls.discard(call)

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
        """After it, in the child; False if the parent's connections may still be about."""
        calls = tuple(self._calls)
        for connection in (*(call.connection for call in calls), *self._idle):
            if connection is not None:
                forks.inherit(connection)
        clean = not calls and not self._idle
        me = get_ident()
        self._calls.difference_update(call for call in calls if call.thread != me)
        self._idle.clear()
        self._draining = False
        return clean

    def drop_idle(self) -> None:
        """Close what nobody uses: for good, or since its file has been replaced."""
        call = _Call()  # a fork has to wait for this, too
        self._calls.add(call)
        try:
            while self._idle:
                try:
                    connection = self._idle.pop()
                except IndexError:  # somebody else took the last one
                    return
                connection.close()
        finally:
            self._calls.discard(call)

    def _enter(self, call: _Call, timeout: float | None) -> OpenConnection:
        wait = self._lock_timeout if timeout is None else timeout
        deadline = monotonic() + wait
        self._calls.add(call)
        while self._draining and not self._closed:
            self._calls.discard(call)
            if monotonic() > deadline:
                raise StoreBusy(self._target, "the process is forking")
            sleep(_PAUSE)
            self._calls.add(call)
        if self._closed:
            raise LedgerClosed(self._target, "the ledger was closed")
        connection = call.connection = self._have_one(call, deadline)
        try:
            connection.check_file()
        except StoreUnavailable:
            self.drop_idle()  # they are to the same file: one error is enough
            raise
        return connection

    def _have_one(self, call: _Call, deadline: float) -> OpenConnection:
        pause = _PAUSE
        while True:
            with suppress(IndexError):
                connection = self._idle.pop()
                call.has_one = True
                return connection
            call.has_one = True  # before looking, so that not all who look at once open one
            if sum(one.has_one for one in tuple(self._calls)) <= _MOST:
                return self._open(max(0.0, deadline - monotonic()))
            call.has_one = False
            if monotonic() > deadline:
                raise StoreBusy(self._target, "others are reading")
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _give_back(self, call: _Call) -> None:
        connection = call.connection
        if connection is None:
            return
        done = self._closed or self._draining
        wanted = len(self._idle) < _KEPT or len(self._calls) > _MOST
        if connection.is_at_rest() and not done and wanted:
            self._idle.append(connection)
        else:
            connection.close()

    def _empty(self, patience: float) -> None:
        me, deadline = get_ident(), monotonic() + patience
        while any(call.thread != me for call in tuple(self._calls)):
            if monotonic() > deadline:
                break
            sleep(_PAUSE)
        self.drop_idle()
