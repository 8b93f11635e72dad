"""What a thread waits for until another one rings it, and until when it does."""

from __future__ import annotations

from contextlib import suppress
from threading import TIMEOUT_MAX, Lock, current_thread, main_thread
from time import monotonic

_LONGEST = 1e9
"""Seconds, some thirty years: whoever is ready to wait for longer gives up then."""

_SLICE = 1.0
"""Seconds that the main thread sleeps at once: a signal that comes just as it falls asleep is not
noticed before it wakes. Other threads handle none."""


class Deadline:
    """When somebody stops waiting."""

    __slots__ = ("_moment",)

    def __init__(self, seconds: float | None) -> None:
        """Without a number, for ever."""
        self._moment = None if seconds is None else monotonic() + min(seconds, _LONGEST)

    @property
    def left(self) -> float | None:
        """Seconds until it ends, negative afterwards; None if it never does."""
        return None if self._moment is None else self._moment - monotonic()


class Bell:
    """It may ring any number of times before it is heard. A signal handler may ring it, too."""

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
        deadline = Deadline(seconds)
        left = deadline.left
        if current_thread() is main_thread():
            while left is None or left > _SLICE:
                if self._silence.acquire(timeout=_SLICE):
                    return True
                left = deadline.left
        return self._silence.acquire(
            timeout=-1 if left is None else max(0.0, min(left, TIMEOUT_MAX))
        )
