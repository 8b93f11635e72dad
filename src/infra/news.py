"""Waiting for news of a ledger: who in this process waits, and how they are told.

Whoever commits in this process tells them at once. What other processes commit shows in the
length of the log, at which one thread looks for all who wait; there is no such thread while nobody
does. Being told means no more than that it is worth looking again: what has happened is read from
the log, by those who wait. So nothing is lost as long as they ask to be told before they look.

A signal handler may raise at any point here, or call the ledger. So there is no lock that it could
find taken: a set changes in one step, and whoever rings a bell never waits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from threading import TIMEOUT_MAX, Lock, Thread, get_ident
from time import monotonic, sleep
from typing import TypeVar

from ..domain.errors import StoreBusy, StoreError, StoreUnavailable
from .database import Database
from .runs import PAGE

T = TypeVar("T")

_QUICK, _IDLE = 0.002, 0.02
"""Seconds between two looks: after something has happened, and when nothing does. In between, the
pause grows with each look in vain."""
_GROWTH = 1.5


class Listener:
    """Somebody who wants to be told."""

    __slots__ = ("database", "place", "stream", "tell", "thread")

    def __init__(
        self, database: Database, place: Hashable, tell: Callable[[], None], stream: str | None
    ) -> None:
        self.database = database
        self.place = place
        self.stream = stream
        """The only one that matters; None for all."""
        self.tell = tell
        self.thread = get_ident()


_listeners: set[Listener] = set()

_looking = Lock()
"""Held while there is a thread that looks for all."""


class Bell:
    """What a thread waits for. It may ring any number of times before it is heard."""

    __slots__ = ("_silence",)

    def __init__(self) -> None:
        self._silence = Lock()
        self._silence.acquire()

    def ring(self) -> None:
        """Wake whoever waits, or will."""
        with suppress(RuntimeError):  # it rings already
            self._silence.release()

    def heard(self, seconds: float | None) -> bool:
        """Whether it rings within so many seconds; None: however long it takes."""
        if seconds is None:
            return self._silence.acquire()
        return self._silence.acquire(timeout=max(0.0, min(seconds, TIMEOUT_MAX)))


class Patience:
    """How long somebody is ready to wait."""

    __slots__ = ("_deadline",)

    def __init__(self, seconds: float | None) -> None:
        """Without a number, for ever."""
        self._deadline = None if seconds is None else monotonic() + seconds

    @property
    def left(self) -> float | None:
        """Seconds until it ends, negative afterwards; None if it never does."""
        return None if self._deadline is None else self._deadline - monotonic()


@contextmanager
def listening(
    database: Database, place: Hashable, tell: Callable[[], None], stream: str | None
) -> Iterator[Callable[[], None]]:
    """In here, ``tell`` is called after commits: at least those that concern the stream.

    It is called in any thread, and must neither raise nor wait. Whoever waits for it calls what
    this gives each time before.

    :param place: the database's.
    """
    listener = Listener(database, place, tell, stream)
    _listeners.add(listener)
    try:
        yield _see_to_looking
    finally:
        _listeners.discard(listener)


def wait_for(
    look: Callable[[], T],
    database: Database,
    *,
    seconds: float | None,
    stream: str | None = None,
) -> T:
    """What ``look`` returns as soon as that is not None; None if it is not in time."""
    patience = Patience(seconds)
    if (found := look()) is not None:  # then nobody need be told
        return found
    bell = Bell()
    with listening(database, database.place(), bell.ring, stream) as see_to_looking:
        while (found := look()) is None:
            see_to_looking()
            if not bell.heard(patience.left):
                return look()  # what came last may not have been told yet
    return found


def announce(database: Database, stream: str) -> None:
    """Tell those who wait that this process has committed an event of the stream."""
    if not _listeners:
        return
    with suppress(StoreError):  # without a place, nobody can be told
        place = database.place()
        _tell(
            listener
            for listener in tuple(_listeners)
            if listener.place == place and listener.stream in {None, stream}
        )


def dismiss(database: Database) -> None:
    """Tell those who wait through a database that has been closed: they find that it is."""
    _tell(listener for listener in tuple(_listeners) if listener.database is database)


def _tell(listeners: Iterator[Listener]) -> None:
    for listener in listeners:
        listener.tell()


def _see_to_looking() -> None:
    """Have the thread that looks for all, unless there is one."""
    if not _looking.acquire(blocking=False):
        return
    try:
        Thread(target=_look_for_all, name="resolution-ledger news", daemon=True).start()
    except BaseException as error:
        _looking.release()
        if isinstance(error, RuntimeError):
            raise StoreUnavailable("news", f"no thread can be started: {error}") from error
        raise


def _look_for_all() -> None:
    heads: dict[Hashable, int] = {}
    # Whoever comes after the last look and before the release finds the lock taken, and has
    # entered the set before: so it is looked at once more.
    while _listeners:
        try:
            pause = _QUICK
            while _listeners:
                pause = _QUICK if _look(heads) else min(pause * _GROWTH, _IDLE)
                sleep(pause)
        finally:
            _looking.release()
        if not _listeners or not _looking.acquire(blocking=False):
            return


def _look(heads: dict[Hashable, int]) -> bool:
    """Look at each ledger that somebody waits for; whether there was news.

    :param heads: how long the log of each was at the last look.
    """
    waiting: dict[Hashable, list[Listener]] = {}
    for listener in tuple(_listeners):
        waiting.setdefault(listener.place, []).append(listener)
    for place in heads.keys() - waiting.keys():
        del heads[place]
    news = False
    for place, listeners in waiting.items():
        known = heads.get(place)
        try:
            head, streams = _news(listeners[0].database, known)
        except StoreBusy:
            continue
        except Exception:  # noqa: BLE001 - whatever it is, those who wait meet it themselves
            heads.pop(place, None)
            _tell(iter(listeners))
            continue
        heads[place] = head
        news = news or head != known
        _tell(
            listener
            for listener in listeners
            if streams is None or (streams and listener.stream in {None, *streams})
        )
    return news


def _news(database: Database, known: int | None) -> tuple[int, set[str] | None]:
    """How long the log is, and the streams of the events since ``known``.

    None for the streams where any may have changed.
    """
    head = database.read(lambda session: session.head_sequence(), timeout=0)
    if head == known:
        return head, set()
    if known is None or not 0 < head - known <= PAGE:
        return head, None
    rows = database.read(lambda session: session.log(known + 1, head, PAGE), timeout=0)
    return head, {row.stream for row in rows}


def _forget_others() -> None:
    """After a fork, in the child: only this thread is left of those who wait."""
    global _looking  # noqa: PLW0603 - the parent's thread holds the old one, and is not here
    _looking = Lock()
    me = get_ident()
    _listeners.difference_update([one for one in _listeners if one.thread != me])
    _tell(iter(tuple(_listeners)))  # so that they see to looking again


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_others)
