"""Those in this process who want to be told of commits."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock, get_ident

from .database import Database


def never() -> bool:
    """Whether it has gone: it says so itself."""
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
        gone: Callable[[], bool] = never,
    ) -> None:
        self.database = database
        self.place = place
        self.stream = stream
        """The only one that matters; None for all."""
        self.tell = tell
        self.gone = gone
        """Whether it has ended without having been able to say so."""
        self.thread = get_ident()


class Listeners:
    """Found by the stream that matters to them, however many there are."""

    def __init__(self) -> None:
        # One that its own thread may take again: a signal handler may wait for something, too.
        # It is held for a few steps, in which nothing can raise or wait.
        self._lock = RLock()
        self.everybody: set[Listener] = set()
        """To be looked at, and to be left in one step, which no handler that raises can come
        into: see :meth:`discard`."""
        self._of: dict[str | None, set[Listener]] = {}
        self.version = 0
        """Another one whenever somebody has come or gone."""

    def __len__(self) -> int:
        return len(self.everybody)

    def __bool__(self) -> bool:
        return bool(self.everybody)

    def add(self, listener: Listener) -> None:
        """From now on, it is told."""
        with self._lock:
            self.everybody.add(listener)
            self._of.setdefault(listener.stream, set()).add(listener)
            self.version += 1

    def discard(self, listener: Listener) -> None:
        """It is told no more. Whoever may be interrupted has left ``everybody`` before."""
        with self._lock:
            self.everybody.discard(listener)
            there = self._of.get(listener.stream)
            if there is not None:
                there.discard(listener)
                if not there:
                    self._of.pop(listener.stream, None)
            self.version += 1

    def forget_interrupted(self) -> None:
        """Forget those who have left, and were interrupted before they had done so wholly."""
        with self._lock:
            for stream, there in tuple(self._of.items()):
                there.intersection_update(self.everybody)
                if not there:
                    del self._of[stream]
            self.version += 1

    def all(self) -> tuple[Listener, ...]:
        """Everybody."""
        return tuple(self.everybody)

    def of(self, stream: str | None) -> tuple[Listener, ...]:
        """Those to whom this stream matters; None: those to whom all do."""
        return tuple(self._of.get(stream, ()))
