"""The connection that writes: the threads of a process take turns on it, and commit together.

Whoever finds it free leads: it takes the write lock, does its own work and that of all who wait by
then, commits once, and tells each what came of it. So a commit, which is what takes long, serves as
many as there are; and where there is only one, nothing is handed over.

A signal handler may raise at any point of the main thread. So the main thread, when it leads, does
its own work alone: what is raised is its own then, and nobody else's fate hangs on it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from threading import Lock, get_ident, main_thread
from time import monotonic
from typing import Any, TypeVar

from ...domain.errors import LedgerClosed, StoreBusy, StoreError
from . import forks
from .calls import Call, Meanwhile, Waiting, Work
from .connection import OpenConnection

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds beyond ``lock_timeout`` that a fork or close waits for calls in flight. What has not
ended by then is stuck in the caller's clock."""

_MOST = 64
"""Calls in a transaction: others, in other processes, want to write, too."""

_MOMENT = 0.02
"""Seconds that a call waits for its turn before it looks whether there is another way."""

_SLICE = 0.05
"""Seconds after which a waiting call looks around, should nobody have woken it: whoever led may
have been interrupted in the middle of a step."""


class Writer:
    """One connection, opened when it is first needed, and those who take turns on it."""

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
        self._waiting = Waiting()

    def call(
        self,
        work: Work[T],
        *,
        timeout: float | None = None,
        meanwhile: Meanwhile[T] | None = None,
        alone: bool = True,
    ) -> T:
        """What ``work`` returns, in a transaction that is committed if it returns.

        :param meanwhile: called if there is more than a moment to wait: what it returns, if not
            None, is returned, and the work is not done.
        :param alone: in a transaction of its own. Otherwise it may be done in another thread,
            together with others, and more than once: what is committed is done once.
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
        for _ in iter(partial(self._turn.acquire, False), False):  # noqa: FBT003
            try:
                self._turn_of = me
                return self._lead(work, deadline, meanwhile, alone=alone)
            finally:
                try:
                    self._tidy()
                finally:
                    self._turn_of = 0
                    self._turn.release()
                    if self._waiting.calls:
                        self._waiting.wake_first()
        return self._wait(me, Call(work, alone=alone), deadline, meanwhile)

    def read(self, work: Work[T], *, timeout: float | None = None) -> T:
        """What ``work`` returns, alone with the connection, in no transaction."""
        me = get_ident()
        if self._turn_of == me:
            raise StoreBusy(self._target, "this thread is inside a call already")
        wait = self._lock_timeout if timeout is None else timeout
        deadline = monotonic() + wait
        for _ in iter(partial(self._turn.acquire, True, wait), False):  # noqa: FBT003
            try:
                self._turn_of = me
                return work(self._ready(deadline).session)
            finally:
                try:
                    self._tidy()
                finally:
                    self._turn_of = 0
                    self._turn.release()
                    if self._waiting.calls:
                        self._waiting.wake_first()
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
            self._waiting.wake_first()

    def resume_in_child(self) -> bool:
        """After a fork, in the child; False if the parent's connection is still about."""
        connection, self._connection = self._connection, None
        if connection is not None:
            forks.inherit(connection)
        self._waiting.forget()
        stuck = not self._drained and self._turn.locked()
        if self._drained or self._turn_of != get_ident():
            self._turn, self._turn_of = Lock(), 0  # held for the fork, or by a stranger
        self._drained = False
        return connection is None and not stuck

    def check_open(self) -> None:
        """Raise ``LedgerClosed`` after :meth:`close`."""
        if self._closed:
            raise LedgerClosed(self._target, "the ledger was closed")

    def _wait(self, me: int, call: Call[T], deadline: float, meanwhile: Meanwhile[T] | None) -> T:
        """Until somebody has done the call, or it is this thread that leads."""
        pause = _MOMENT
        try:
            self._waiting.enter(call)
            while not call.ended():
                for _ in iter(partial(self._turn.acquire, False), False):  # noqa: FBT003
                    try:
                        self._turn_of = me
                        # Else it has just been done: unless this is a forked child, in which
                        # nobody does what was waiting, or taken, in the parent.
                        if self._waiting.leave(call) or not call.ended():
                            return self._lead(call.work, deadline, meanwhile, alone=call.alone)
                    finally:
                        try:
                            self._tidy()
                        finally:
                            self._turn_of = 0
                            self._turn.release()
                            if self._waiting.calls:
                                self._waiting.wake_first()
                    break
                left = deadline - monotonic()
                if left <= 0 and self._waiting.leave(call):
                    raise StoreBusy(self._target, "another thread of this process is writing")
                # One that has been taken is being committed: its fate is worth the wait.
                if call.bell.heard(min(left, pause) if left > 0 else pause):
                    continue
                if meanwhile is not None:
                    found, meanwhile = meanwhile(), None
                    if found is not None and self._waiting.leave(call):
                        return found
                pause = _SLICE
            return call.outcome()
        finally:
            if not call.ended():
                self._waiting.leave(call)  # this was interrupted: nobody is to do it any more

    def _lead(
        self, work: Work[T], deadline: float, meanwhile: Meanwhile[T] | None, *, alone: bool
    ) -> T:
        connection = self._connection
        if connection is None or self._closed:
            connection = self._ready(deadline)
        try:
            connection.begin(0.0)
        except StoreBusy:
            left = deadline - monotonic()
            if left <= 0:
                raise
            if meanwhile is not None and (found := meanwhile()) is not None:
                return found
            connection.begin(left)
        if self._waiting.calls and not alone and get_ident() != main_thread().ident:
            return self._together(connection, work, deadline)
        result = work(connection.session)
        connection.commit()
        return result

    def _together(self, connection: OpenConnection, own: Work[T], deadline: float) -> T:
        """Do the own work and that of those who wait, and commit it at once."""
        taken = self._waiting.take(_MOST - 1)
        try:
            result = own(connection.session)
            done: list[tuple[Call[Any], Any]] = []
            for call in taken:
                try:
                    done.append((call, call.work(connection.session)))
                except BaseException as error:  # noqa: BLE001 - whatever it is, it is that call's
                    # What it has done goes, and all else with it: that is done again, without it.
                    connection.roll_back()
                    call.fail(error)
                    taken.remove(call)
                    self._waiting.put_back(taken)
                    taken, done = [], []
                    connection.begin(max(0.0, deadline - monotonic()))
                    result = own(connection.session)
                    break
            try:
                connection.commit()
            except StoreError as error:
                for call in taken:
                    call.fail(copy(error))
                raise
            for call, its_result in done:
                call.succeed(its_result)
            return result
        except BaseException:
            self._waiting.put_back([call for call in taken if not call.ended()])
            raise

    def _ready(self, deadline: float) -> OpenConnection:
        self.check_open()
        connection = self._connection
        if connection is None:
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
