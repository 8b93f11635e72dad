"""The connection that writes: the threads of a process take turns on it, and commit together.

Whoever finds it free leads (see :mod:`.leading`); the others wait until somebody has done their
calls, or until they lead. Where there is only one, nothing is handed over.
"""

from __future__ import annotations

from functools import partial
from os import getpid
from threading import Lock, get_ident
from time import monotonic
from typing import TypeVar
from weakref import WeakSet

from ...domain.errors import StoreBusy, StoreUnavailable
from ..bells import Bell
from . import forks
from .calls import Call, Client, Shortcut, Waiting, Work
from .connection import OpenConnection
from .gate import Gate
from .leading import lead
from .line import Line

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds beyond ``lock_timeout`` that a fork or close waits for calls in flight. What has not
ended by then is probably stuck in a caller's clock."""

_MOMENT = 0.02
"""Seconds that a call waits for its turn before it looks whether there is another way."""

_SLICE = 0.05
"""Seconds after which a waiting call looks around, should nobody have woken it: whoever led may
have been interrupted in the middle of a step."""

_GRACE = 0.01
"""Seconds that the first one who waits has for taking a free turn before others do."""


class Writer:
    """One connection, opened when it is first needed, and those who take turns on it."""

    def __init__(self, target: str, *, in_memory: bool = False) -> None:
        """At a path, or in memory, where the connection is the ledger and outlives forks."""
        self._target = target
        self._in_memory = in_memory
        self._clients: WeakSet[Client] = WeakSet()
        self._wanted = False
        """Whether there are any."""
        self._patience = PATIENCE
        self._connection: OpenConnection | None = None
        self._gate = Gate(target)
        self._line = Line(self._gate)
        self._turn = Lock()
        self._turn_of = 0
        """The thread whose turn it is, 0 for none."""
        self._drained = False
        """A fork holds the turn."""
        self._waiting = Waiting()
        forks.watch(self)

    def leave(self, client: Client, patience: float) -> None:
        """Let the calls in flight end; close the connection if nobody else uses it.

        The client has been closed.
        """
        self._clients.discard(client)
        me = get_ident()
        if self._turn_of == me:  # the call that goes on is this thread's own, and tidies up
            self._wanted = bool(self._clients)
            return
        for _ in iter(partial(self._turn.acquire, True, patience), False):  # noqa: FBT003
            try:
                self._turn_of = me
                self._wanted = bool(self._clients)
            finally:
                try:
                    self._tidy()
                finally:
                    self._turn_of = 0
                    self._turn.release()
                    if self._waiting.calls:
                        self._waiting.wake_first()
            return
        self._wanted = bool(self._clients)  # whoever does not end tidies up, should it ever end

    def call(
        self,
        client: Client,
        work: Work[T],
        *,
        timeout: float | None = None,
        shortcut: Shortcut[T] | None = None,
        alone: bool = True,
    ) -> T:
        """What ``work`` returns, in a transaction that is committed if it returns.

        :param timeout: seconds to wait, all in all; by default the client's ``lock_timeout``.
        :param shortcut: called if there is more than a moment to wait: what it returns, if not
            None, is returned, and the work is not done.
        :param alone: in a transaction of its own. Otherwise it may be done in another thread,
            together with others, and more than once: what is committed is done once.
        :raises StoreBusy: if the turn or the write lock is not to be had in time, or if this
            thread has the turn already: the clock has called back.
        :raises LedgerClosed: after :meth:`leave`.
        """
        me = get_ident()
        if self._turn_of == me:
            raise StoreBusy(self._target, "this thread is inside a call already")
        deadline = monotonic() + (client.lock_timeout if timeout is None else timeout)
        call = Call(client, work, shortcut, alone=alone)
        # A loop that runs once at most: between the lock's own "yes" and the "try" no signal
        # handler can run, as one could between a call and the use of what it returned.
        for _ in iter(partial(self._turn.acquire, False), False):  # noqa: FBT003
            try:
                self._turn_of = me
                return self._lead(call, deadline)
            finally:
                try:
                    try:
                        self._tidy()
                    finally:
                        if self._gate.may_hold:  # an exception came in between
                            self._gate.leave()
                finally:
                    self._turn_of = 0
                    self._turn.release()
                    if self._waiting.calls:
                        self._waiting.wake_first()
        return self._wait(me, call, deadline)

    def read(self, client: Client, work: Work[T], *, timeout: float | None = None) -> T:
        """What ``work`` returns, alone with the connection, in no transaction."""
        me = get_ident()
        if self._turn_of == me:
            raise StoreBusy(self._target, "this thread is inside a call already")
        wait = client.lock_timeout if timeout is None else timeout
        deadline = monotonic() + wait
        for _ in iter(partial(self._turn.acquire, True, wait), False):  # noqa: FBT003
            try:
                self._turn_of = me
                return work(self._ready(client, deadline).session)
            finally:
                try:
                    self._tidy()
                finally:
                    self._turn_of = 0
                    self._turn.release()
                    if self._waiting.calls:
                        self._waiting.wake_first()
        raise StoreBusy(self._target, "another thread of this process is writing")

    def drain(self) -> None:
        """Before a fork: let another thread's call end, close the connection, keep the turn."""
        me = get_ident()
        if self._turn_of == me:
            return  # the call that goes on is this thread's own
        for _ in iter(partial(self._turn.acquire, True, self._patience), False):  # noqa: FBT003
            self._turn_of = me
            self._drained = True
            if not self._in_memory:
                self._drop()
            return

    def resume(self) -> None:
        """After it, in the parent: give back the turn."""
        if self._drained:
            self._drained = False
            self._turn_of = 0
            self._turn.release()
            self._waiting.wake_first()

    def resume_in_child(self) -> None:
        """After it, in the child: the file is refused if a connection of the parent's is about."""
        connection, self._connection = self._connection, None
        if connection is not None:
            forks.inherit(connection)
        self._gate.forget()
        self._waiting.forget()
        stuck = not self._drained and self._turn.locked()
        if self._drained or self._turn_of != get_ident():
            self._turn, self._turn_of = Lock(), 0  # held for the fork, or by a stranger
        self._drained = False
        if (connection is not None or stuck) and not self._in_memory:
            forks.refuse(self._target)

    def _wait(self, me: int, call: Call[T], deadline: float) -> T:
        """Until somebody has done the call, or it is this thread that leads."""
        call.client.check_open()
        process = getpid()
        try:
            result = self._wait_for_turn(me, call, deadline)
        finally:
            if not call.ended():  # this was interrupted: nobody is to do it any more
                call.given_up = True
                self._waiting.leave(call)
        if call.ended() and getpid() != process:  # it was done for the parent
            raise StoreUnavailable(self._target, "the process forked inside this call")
        return result

    def _wait_for_turn(self, me: int, call: Call[T], deadline: float) -> T:
        shortcut, pause, held_up = call.shortcut, _MOMENT, False
        bell = self._waiting.enter(call)
        while not call.ended():
            may_lead = held_up or self._waiting.may_lead(call)
            take_turn = partial(self._turn.acquire, False)  # noqa: FBT003
            for _ in iter(take_turn, False) if may_lead else ():  # noqa: FBT003
                try:
                    self._turn_of = me
                    # Else it has just been done: unless this is a forked child, in which
                    # nobody does what was waiting, or taken, in the parent.
                    if self._waiting.leave(call) or not call.ended():
                        return self._lead(call, deadline)
                finally:
                    try:
                        try:
                            self._tidy()
                        finally:
                            if self._gate.may_hold:
                                self._gate.leave()
                    finally:
                        self._turn_of = 0
                        self._turn.release()
                        if self._waiting.calls:
                            self._waiting.wake_first()
                break
            woken, held_up = self._doze(call, bell, deadline, pause)
            if woken:
                continue
            if shortcut is not None:
                found, shortcut = shortcut(), None
                if found is not None and self._waiting.leave(call):
                    return found
            pause = _SLICE
        return call.outcome()

    def _doze(self, call: Call[T], bell: Bell, deadline: float, pause: float) -> tuple[bool, bool]:
        """Whether somebody has woken the call, and whether whoever waits first is held up."""
        left = deadline - monotonic()
        if left <= 0 and self._waiting.leave(call):
            raise StoreBusy(self._target, "another thread of this process is writing")
        # One that has been taken is being committed: its fate is worth the wait.
        if bell.heard(min(left, pause) if left > 0 else pause):
            return True, False
        # Whoever is first may not come to it, being inside a signal handler, say.
        if self._turn.locked():
            return False, False
        woken = bell.heard(_GRACE)
        return woken, not woken

    def _lead(self, call: Call[T], deadline: float) -> T:
        connection = self._ready(call.client, deadline)
        return lead(connection, self._line, self._waiting, call, deadline)

    def _ready(self, client: Client, deadline: float) -> OpenConnection:
        """The connection, for this client."""
        if client.closed:
            client.check_open()
        connection = self._connection
        if not client.registered:
            self._clients.add(client)
            self._wanted = True
            self._patience = max(self._patience, client.lock_timeout + PATIENCE)
            client.registered = True
            if connection is not None and not connection.is_in_place():
                self._drop()  # it is not this client who has to be told
                connection = None
        if connection is None:
            connection = client.open_writer(max(0.0, deadline - monotonic()))
            self._connection = connection
        return connection

    def _tidy(self) -> None:
        """Whatever has happened: leave no transaction, and no connection past its use."""
        if self._gate.may_hold:
            # Not before: whoever has just found the lock taken is faster than those who sleep.
            self._gate.leave()
        connection = self._connection
        if connection is None or (self._wanted and connection.is_at_rest()):
            return
        connection.roll_back()
        if not (self._wanted and connection.usable):
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._gate.close()
        if connection is not None:
            connection.close()
