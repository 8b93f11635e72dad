"""Waiting for news of a ledger: who in this process waits, and how they are told.

Whoever commits in this process tells them at once. What other processes commit shows in the
length of the log, at which one thread looks for all who wait; there is no such thread while nobody
does. Being told means no more than that it is worth looking again: what has happened is read from
the log, by those who wait. So nothing is lost as long as they ask to be told before they look.

A signal handler may raise at any point here, or call the ledger. So there is no lock that it could
find taken, and whoever rings a bell never waits.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock, get_ident
from time import sleep
from typing import TypeVar

from ..domain.errors import StoreBusy, StoreError, StoreUnavailable
from .bells import Bell, Deadline
from .database import Database
from .listeners import Listener, Listeners, never
from .runs import PAGE

T = TypeVar("T")

_QUICK, _IDLE = 0.002, 0.025
"""Seconds between two looks: after something has happened, and when nothing does. In between, the
pause grows with each look in vain."""
_GROWTH = 1.5


_GONE_EVERY = 50
"""Looks between two at whether somebody has gone without having been able to say so."""

_listeners = Listeners()

_looking = Lock()
"""Held by the thread that looks for all, and by nobody else."""


@contextmanager
def listening(
    database: Database,
    place: Hashable,
    tell: Callable[[], None],
    stream: str | None,
    gone: Callable[[], bool] = never,
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
    place: Hashable = None,
) -> T:
    """What ``look`` returns as soon as that is not None; None if it is not in time.

    :param place: where the ledger was when somebody began with it; by default, where it is now.
    :raises StoreUnavailable: if it is no longer there.
    """
    deadline = Deadline(seconds)
    begun, place = place, database.place() if place is None else place
    found = look()
    if begun is not None:
        check_place(database, place)
    if found is not None or seconds == 0:  # then nobody need be told
        return found
    bell = Bell()
    listener = Listener(database, place, bell.ring, stream)
    # As in ``listening``, which a signal handler that raises may leave by halves: between the
    # lines here and what they call there is no point at which one can run.
    try:
        _listeners.add(listener)
        in_time = True
        while True:
            found = look()
            check_place(database, place)
            if found is not None or not in_time:
                return found
            _see_to_looking(database.target)
            in_time = bell.heard(deadline.left)  # what came last may not have been told yet
    finally:
        _listeners.everybody.discard(listener)
        _listeners.discard(listener)


def check_place(database: Database, place: Hashable) -> None:
    """See, after a look, that the ledger is where it was: what was read is of no other one then.

    Whoever reads meets the error only once, and others may have met it already.

    :raises StoreUnavailable: if it is not.
    """
    if database.place() != place:
        raise StoreUnavailable(database.target, "the file was moved, removed or replaced")


def announce(database: Database, stream: str) -> None:
    """Tell those who wait that this process has committed an event of the stream."""
    if not _listeners:
        return
    with suppress(StoreError):  # without a place, nobody can be told
        place = database.place()
        _tell(place, (stream,))


def close(database: Database) -> None:
    """Close it, and tell those who wait through it: they find that it is."""
    database.close()
    for listener in _listeners.all():
        if listener.database is database:
            listener.tell()


def _tell(place: Hashable, streams: Iterable[str] | None) -> None:
    """Tell those to whom one of the streams matters; None: everybody who waits there."""
    if streams is None:
        told = _listeners.all()
    else:
        told = tuple(one for stream in (None, *streams) for one in _listeners.of(stream))
    for listener in told:
        if listener.place == place:
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
    looks = Looks()
    # Whoever comes after the last look and before the release finds the lock taken, and has
    # entered the set before: so the set is looked at once more.
    while _listeners and _looking.acquire(blocking=False):
        try:
            pause = _QUICK
            while _listeners:
                pause = _QUICK if looks.look() else min(pause * _GROWTH, _IDLE)
                sleep(pause)
            _listeners.forget_interrupted()
        finally:
            _looking.release()


class Looks:
    """What the thread that looks remembers from one look to the next."""

    def __init__(self) -> None:
        self.heads: dict[Hashable, int] = {}
        """How long the log of each ledger was at the last look."""
        self._databases: dict[Hashable, Database] = {}
        """Those that somebody waits for."""
        self._version = 0
        self._left = 0

    def look(self) -> bool:
        """Look at each ledger that somebody waits for; whether there was news."""
        self._see_who_listens()
        news = False
        for place, database in self._databases.items():
            known = self.heads.get(place)
            streams: set[str] | None
            try:
                head, streams = _news(database, known)
                check_place(database, place)
            except StoreBusy:
                continue
            except Exception:  # noqa: BLE001 - whatever it is, those who wait meet it themselves
                self.heads.pop(place, None)
                streams = None
            else:
                self.heads[place] = head
                news = news or head != known
            # Those who listen by now, not those who did before: whoever has come meanwhile may
            # have looked before what has just been read was committed, and it is news only once.
            if streams is None or streams:
                _tell(place, streams)
        return news

    def _see_who_listens(self) -> None:
        self._left -= 1
        if self._left < 0:
            self._left = _GONE_EVERY
            _listeners.forget_interrupted()
            for listener in _listeners.all():
                if listener.gone():
                    _listeners.discard(listener)
        version = _listeners.version
        if version != self._version:
            self._version = version
            self._databases = {one.place: one.database for one in _listeners.all()}
            for place in self.heads.keys() - self._databases.keys():
                del self.heads[place]


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
    """After a fork, in the child: only this thread is left of those who wait, and no event loop."""
    global _looking, _listeners  # noqa: PLW0603 - of the old ones, others may hold the locks
    _looking = Lock()
    waited, _listeners = _listeners.all(), Listeners()
    for listener in waited:
        if listener.thread == get_ident() and listener.gone is never:
            _listeners.add(listener)
            listener.tell()  # so that it sees to looking again


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_others)
