"""Connections for reading: each serves one call at a time and is kept for the next."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from time import monotonic, sleep
from typing import TypeVar
from weakref import ref

from ...domain.errors import LedgerClosed, StoreBusy, StoreUnavailable
from . import forks
from .connection import OpenConnection
from .operator import SQLiteOperatorSession

S = TypeVar("S")
T = TypeVar("T")

_MOST = 32
"""Connections at once: where hundreds of calls come together, they take turns on these."""

_KEPT = 8
"""Connections that are kept although nobody uses them."""

_PAUSE, _LONGEST_PAUSE = 0.001, 0.02
"""Seconds between two looks at whether a rare thing (a fork, a close, a crowd) is over."""


class _Seat:
    """A place for one call at a time, with a connection from its first use on."""

    __slots__ = ("__weakref__", "connection", "session", "thread", "trusted")

    session: SQLiteOperatorSession

    def __init__(self, thread: int) -> None:
        self.thread = thread
        """Whose call has it, or had it last."""
        self.connection: OpenConnection | None = None
        self.trusted = 0.0
        """Until when a call that does not insist need not look at the file."""


class Readers:
    """As many connections as there are calls at once, opened when they are needed.

    A signal handler may run at any point of a call; it may raise, fork, or call the ledger
    itself. So there is no lock that it could find taken: sets and lists change in one step
    each. Whoever wants all calls to end (a fork, a close) says so first, and looks at the seats
    afterwards until there are no others' left. A call that finds an idle seat is waited for; one
    that needs a new seat enters it first and looks whether it may go on afterwards; and none puts
    its seat back once it has been said.
    """

    def __init__(
        self, target: str, open_connection: Callable[[float], OpenConnection], lock_timeout: float
    ) -> None:
        self._target = target
        self._open = open_connection
        self._lock_timeout = lock_timeout
        self._closed = False
        self._draining = False
        self._seats: set[ref[_Seat]] = set()
        """All that have a connection or are about to. Weakly, since an exception at the wrong
        moment loses a seat: its connection is closed when the last reference goes."""
        self._idle: list[_Seat] = []
        self._taking = iter(self._idle.pop, None)
        """Gives idle seats, and raises ``IndexError`` when there are none. No signal handler
        and no other thread runs between a loop's taking one and the call in the loop's body."""
        self._crowd: set[_Seat] = set()
        """Of the calls that wait for others to end."""

    def call(
        self,
        work: Callable[[SQLiteOperatorSession, S], T],
        subject: S,
        timeout: float | None,
        staleness: float = 0.0,
    ) -> T:
        """What ``work`` returns, given a connection for itself and what it is about.

        :param staleness: for how many seconds it will do to have looked at the file.
        :raises LedgerClosed: after :meth:`close`.
        """
        me = get_ident()
        try:
            for seat in self._taking:
                seat.thread = me
                break
        except IndexError:
            seat = _Seat(me)
        try:
            if not staleness or monotonic() > seat.trusted:  # or if it has no connection yet
                self._make_ready(seat, timeout, staleness)
            result = work(seat.session, subject)
        except BaseException:
            self._put_back(seat)
            raise
        # No call before the seat is back: out of one, a signal handler could raise.
        if seat.connection is None or self._closed or self._draining:
            self._give_up(seat)
        else:
            self._idle.append(seat)
            if len(self._idle) > _KEPT and not self._crowd:
                self._drop_one()
        return result

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
        seats = self._all()
        for seat in seats:
            if seat.connection is not None:
                forks.inherit(seat.connection)
                seat.connection = None
        for left in (self._seats, self._idle, self._crowd):
            left.clear()  # not made anew: there are references to them
        self._draining = False
        return not seats

    def drop_idle(self) -> None:
        """Close what nobody uses: for good, or since its file has been replaced."""
        while self._idle:
            self._drop_one()

    def _drop_one(self) -> None:
        me = get_ident()
        try:
            for seat in self._taking:
                seat.thread = me  # a fork has to wait for this, too
                break
        except IndexError:  # somebody else took the last one
            return
        self._give_up(seat)

    def _make_ready(self, seat: _Seat, timeout: float | None, staleness: float) -> None:
        """See to it that the call may go on with the seat."""
        connection = seat.connection
        if connection is None:
            connection = self._have_one(seat, timeout)
        elif staleness:
            seat.trusted = monotonic() + staleness
        try:
            connection.check_file()
        except StoreUnavailable:
            self.drop_idle()  # they are to the same file: one error is enough
            raise

    def _have_one(self, seat: _Seat, timeout: float | None) -> OpenConnection:
        deadline = monotonic() + (self._lock_timeout if timeout is None else timeout)
        pause = _PAUSE
        while True:
            # Before looking, so that not all who look at once open one.
            self._seats.add(ref(seat, self._seats.discard))
            if self._closed:
                raise LedgerClosed(self._target, "the ledger was closed")
            if len(self._seats) <= _MOST and not self._draining:
                connection = self._open(max(0.0, deadline - monotonic()))
                seat.connection, seat.session = connection, connection.session
                return connection
            self._give_up(seat)
            if monotonic() > deadline:
                reason = "the process is forking" if self._draining else "others are reading"
                raise StoreBusy(self._target, reason)
            try:
                self._crowd.add(seat)
                sleep(pause)
            finally:
                self._crowd.discard(seat)
            pause = min(2 * pause, _LONGEST_PAUSE)
            if found := self._take_over(seat):
                return found

    def _take_over(self, seat: _Seat) -> OpenConnection | None:
        """Give the seat the connection of an idle one, if there is any."""
        try:
            for other in self._taking:
                other.thread = seat.thread
                break
        except IndexError:
            return None
        self._seats.add(ref(seat, self._seats.discard))
        seat.connection, seat.session = other.connection, other.session
        other.connection = None
        self._give_up(other)
        return seat.connection

    def _put_back(self, seat: _Seat) -> None:
        """After an exception, which may have left a transaction open."""
        connection = seat.connection
        done = self._closed or self._draining
        if connection is not None and connection.is_at_rest() and not done:
            self._idle.append(seat)
        else:
            self._give_up(seat)

    def _give_up(self, seat: _Seat) -> None:
        """Close its connection, if it has one."""
        connection = seat.connection
        try:
            if connection is not None:
                connection.close()
        finally:
            seat.connection = None
            self._seats.discard(ref(seat))

    def _empty(self, patience: float) -> None:
        me, deadline = get_ident(), monotonic() + patience
        while True:
            self.drop_idle()
            if all(seat.thread == me for seat in self._all()) or monotonic() > deadline:
                return
            sleep(_PAUSE)

    def _all(self) -> list[_Seat]:
        """All seats that there are."""
        return [seat for known in tuple(self._seats) if (seat := known()) is not None]
