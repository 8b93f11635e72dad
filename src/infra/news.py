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
from _thread import start_new_thread
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock, get_ident
from time import sleep
from typing import TypeVar

from ..domain.errors import StoreBusy, StoreError, StoreUnavailable
from .bells import Bell, Deadline
from .database import Database
from .runs import PAGE

T = TypeVar("T")

_QUICK, _IDLE = 0.002, 0.025
"""Seconds between two looks: after something has happened, and when nothing does. In between, the
pause grows with each look in vain."""
_GROWTH = 1.5


def _never() -> bool:
    return False


class Listener:
    """Somebody who wants to be told."""

    __slots__ = ("database", "gone", "place", "stream", "tell", "thread")

    def __init__(
        self,
        database: Database,
        place: Hashable,
        tell: Callable[[], None],
        stream: str | None,
        gone: Callable[[], bool] = _never,
    ) -> None:
        self.database = database
        self.place = place
        self.stream = stream
        """The only one that matters; None for all."""
        self.tell = tell
        self.gone = gone
        """Whether it has ended without having been able to say so."""
        self.thread = get_ident()


_listeners: set[Listener] = set()

_looking = Lock()
"""Held by the thread that looks for all, and by nobody else."""


@contextmanager
def listening(
    database: Database,
    place: Hashable,
    tell: Callable[[], None],
    stream: str | None,
    gone: Callable[[], bool] = _never,
) -> Iterator[Callable[[], None]]:
    """In here, ``tell`` is called after commits: at least those that concern the stream.

    It is called in any thread, and must neither raise nor wait. Whoever waits for it calls what
    this gives each time before.

    :param place: the database's.
    :param gone: whether whoever listens has ended without leaving this.
    """
    listener = Listener(database, place, tell, stream, gone)
    try:
        _listeners.add(listener)
        yield partial(_see_to_looking, database.target)
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
    deadline = Deadline(seconds)
    if (found := look()) is not None or seconds == 0:  # then nobody need be told
        return found
    bell = Bell()
    listener = Listener(database, database.place(), bell.ring, stream)
    # As in ``listening``, which a signal handler that raises may leave by halves: between the
    # lines here and what they call there is no point at which one can run.
    try:
        _listeners.add(listener)
        while (found := look()) is None:
            _see_to_looking(database.target)
            if not bell.heard(deadline.left):
                return look()  # what came last may not have been told yet
        return found
    finally:
        _listeners.discard(listener)


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


def close(database: Database) -> None:
    """Close it, and tell those who wait through it: they find that it is."""
    database.close()
    _tell(listener for listener in tuple(_listeners) if listener.database is database)


def _tell(listeners: Iterator[Listener]) -> None:
    for listener in listeners:
        listener.tell()


def _see_to_looking(target: str) -> None:
    """Have the thread that looks for all, unless there is one.

    The thread takes the lock itself: were it taken here, a signal handler that raises could
    leave it to nobody, and one that waits would wait for a thread that is yet to be started.
    Of several that are started at once, all but one end again. ``Thread`` would not do: a handler
    that raises out of its ``start`` leaves it in a state in which no other thread can be started.
    """
    if _looking.locked():
        return
    try:
        start_new_thread(_look_for_all, ())
    except RuntimeError as error:
        raise StoreUnavailable(target, f"no thread can be started: {error}") from error


def _look_for_all() -> None:
    heads: dict[Hashable, int] = {}
    # Whoever comes after the last look and before the release finds the lock taken, and has
    # entered the set before: so the set is looked at once more.
    while _listeners and _looking.acquire(blocking=False):
        try:
            pause = _QUICK
            while _listeners:
                pause = _QUICK if _look(heads) else min(pause * _GROWTH, _IDLE)
                sleep(pause)
        finally:
            _looking.release()


def _look(heads: dict[Hashable, int]) -> bool:
    """Look at each ledger that somebody waits for; whether there was news.

    :param heads: how long the log of each was at the last look.
    """
    databases = {one.place: one.database for one in tuple(_listeners) if not _dropped(one)}
    for place in heads.keys() - databases.keys():
        del heads[place]
    news = False
    for place, database in databases.items():
        known = heads.get(place)
        streams: set[str] | None
        try:
            head, streams = _news(database, known)
        except StoreBusy:
            continue
        except Exception:  # noqa: BLE001 - whatever it is, those who wait meet it themselves
            heads.pop(place, None)
            streams = None
        else:
            heads[place] = head
            news = news or head != known
        # Those who listen by now, not those who did before: whoever has come meanwhile may have
        # looked before what has just been read was committed, and it is news only this once.
        _tell(
            listener
            for listener in tuple(_listeners)
            if listener.place == place
            and (streams is None or (streams and listener.stream in {None, *streams}))
        )
    return news


def _dropped(listener: Listener) -> bool:
    """Whether it was gone, and is no longer among those who listen."""
    if not listener.gone():
        return False
    _listeners.discard(listener)
    return True


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
    if not rows or rows[-1].sequence != head:  # a page of large events ends early
        return head, None
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
