"""Calls that wait for somebody to lead, in the order in which they came.

A signal handler may raise, fork, or call the ledger at any point of the main thread. So nothing
here is locked: the queue changes in one step each time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

from ...domain.errors import LedgerClosed
from ..bells import Bell
from .connection import OpenConnection
from .expected import ExpectedLedger

T = TypeVar("T")

Work = Callable[[Any], T]
"""What is to be done with a session."""

Shortcut = Callable[[], T | None]
"""Another way to an answer, for those who have to wait; None if it leads to none."""


class Client(ABC):
    """A database, as the writer that it may share with others sees it."""

    def __init__(self, target: str, lock_timeout: float) -> None:
        self.target = target
        self.lock_timeout = lock_timeout
        self.registered = False
        """Whether the writer counts on it."""
        self.closed = False
        self.expected = ExpectedLedger(target)

    @abstractmethod
    def open_writer(self, timeout: float) -> OpenConnection:
        """A new connection, for all that share the writer."""

    def check_open(self) -> None:
        """Raise ``LedgerClosed`` once it has been closed."""
        if self.closed:
            raise LedgerClosed(self.target, "the ledger was closed")


class Call(Generic[T]):
    """A work that is to be done in a write transaction, and what has come of it."""

    __slots__ = (
        "_done",
        "_error",
        "_result",
        "_work",
        "alone",
        "bell",
        "client",
        "given_up",
        "shortcut",
    )

    def __init__(
        self, client: Client, work: Work[T], shortcut: Shortcut[T] | None, *, alone: bool
    ) -> None:
        self.client = client
        self._work = work
        self.shortcut = shortcut
        self.alone = alone
        """Whether it is to have a transaction of its own."""
        self.given_up = False
        """Nobody waits for it any more, so nobody is to do it."""
        self.bell: Bell | None = None  # most calls never wait, and to make one takes its time
        self._done = False
        self._result: T | None = None
        self._error: BaseException | None = None

    def work(self, connection: OpenConnection) -> T:
        """Do it. The write lock is held.

        :raises LedgerClosed: once the client has been closed.
        :raises StoreUnavailable: if it knows another ledger at this place.
        """
        client = self.client
        if client.closed:
            client.check_open()
        if connection.ledger is not client.expected.identity:
            client.expected.check(connection.ledger)
        return self._work(connection.session)

    def succeed(self, result: T) -> None:
        """It is committed."""
        self._result, self._done = result, True
        self.wake()

    def fail(self, error: BaseException) -> None:
        """It is not, or nobody knows."""
        self._error, self._done = error, True
        self.wake()

    def wake(self) -> None:
        """Have whoever waits for it look around."""
        if self.bell is not None:
            self.bell.ring()

    def ended(self) -> bool:
        """Whether anything has come of it."""
        return self._done

    def outcome(self) -> T:
        """What came of it."""
        if self._error is not None:
            raise self._error
        return cast(T, self._result)


class Waiting:
    """The queue."""

    def __init__(self) -> None:
        self.calls: deque[Call[Any]] = deque()
        """To be looked at, and no more: that costs least where nobody waits."""

    def enter(self, call: Call[Any]) -> Bell:
        """Wait for somebody to lead; the bell rings when there is something to look at."""
        call.bell = Bell()
        self.calls.append(call)
        return call.bell

    def leave(self, call: Call[Any]) -> bool:
        """Whether the call still waited: from now on it does not."""
        try:
            self.calls.remove(call)
        except ValueError:
            return False
        return True

    def may_lead(self, call: Call[Any]) -> bool:
        """Whether nobody who waits came before."""
        self._drop_given_up()
        try:
            return self.calls[0] is call
        except IndexError:  # nobody waits: it has been taken, or this is a forked child
            return True

    def take(self, most: int) -> list[Call[Any]]:
        """Those that may be done together, as far as they come first: nobody else does them now."""
        taken: list[Call[Any]] = []
        with suppress(IndexError):  # there are no more
            while len(taken) < most and not self.calls[0].alone:
                taken.append(self.calls.popleft())
        return [call for call in taken if not call.given_up]

    def put_back(self, calls: list[Call[Any]]) -> None:
        """Have them wait again, where they did."""
        self.calls.extendleft(reversed(calls))
        self._drop_given_up()

    def wake_first(self) -> None:
        """Have the first one lead."""
        self._drop_given_up()
        with suppress(IndexError):  # it has just left
            self.calls[0].wake()

    def _drop_given_up(self) -> None:
        """Of those that were put back, some may have been given up meanwhile."""
        with suppress(IndexError, ValueError):  # there are no more, or somebody else was faster
            while (first := self.calls[0]).given_up:
                self.calls.remove(first)

    def forget(self) -> None:
        """In a forked child: they wait in the parent."""
        self.calls.clear()
