"""What a thread waits for until another one rings it, and how long it is ready to."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from time import monotonic

_LONGEST = 1e9
"""Seconds, some thirty years: whoever is ready to wait for longer gives up then."""

_SLICE = 1.0
"""Seconds of sleep at once: a signal that comes just as it begins is not noticed before its end."""


class Patience:
    """How long somebody is ready to wait."""

    __slots__ = ("_deadline",)

    def __init__(self, seconds: float | None) -> None:
        """Without a number, for ever."""
        self._deadline = None if seconds is None else monotonic() + min(seconds, _LONGEST)

    @property
    def left(self) -> float | None:
        """Seconds until it ends, negative afterwards; None if it never does."""
        return None if self._deadline is None else self._deadline - monotonic()


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
        patience = Patience(seconds)
        left = patience.left
        while left is None or left > _SLICE:
            if self._silence.acquire(timeout=_SLICE):
                return True
            left = patience.left
        return self._silence.acquire(timeout=max(0.0, left))
