"""Exceptions that arrive inside a call, from handlers, threads and the clock; and its steps."""

from __future__ import annotations

import ctypes
import signal
from random import Random
from threading import Event, Thread, get_ident
from types import FrameType

from ..place import Place
from .inside import Inside, Moment, Struck, in_main_thread


class Interrupt(Inside):
    """A signal handler raises at some moment of a call in the main thread."""

    name = "interrupt"

    def __init__(self, place: Place, client: str, random: Random) -> None:
        super().__init__(place, client, random)
        self._inside = False

    def arm(self) -> None:
        """Have the alarm raise."""
        signal.signal(signal.SIGALRM, self._raise)

    def in_call(self) -> None:
        """Set it, often."""
        if in_main_thread() and self.often(0.2):
            self._inside = True
            signal.setitimer(
                signal.ITIMER_REAL,
                self.random.choice((2e-5, 2e-4, 2e-3)) * self.random.random() + 1e-6,
            )

    def after_call(self, error: BaseException | None) -> None:
        """Stop it."""
        del error
        if in_main_thread():
            self._inside = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _raise(self, _: int, __: FrameType | None) -> None:
        if self._inside:
            self._inside = False
            self.strike()
            raise KeyboardInterrupt if self.random.random() < 0.5 else Struck("by a signal handler")  # noqa: PLR2004


class InterruptThread(Inside):
    """Another thread raises in one that is inside a call."""

    name = "interrupt a thread"

    def __init__(self, place: Place, client: str, random: Random) -> None:
        super().__init__(place, client, random)
        self._moments: dict[int, Moment] = {}

    def arm(self) -> None:
        """Begin to look for those who are inside."""
        Thread(target=self._hunt, daemon=True).start()

    def in_call(self) -> None:
        """It may come now."""
        if not in_main_thread():
            self._moments.setdefault(get_ident(), Moment()).enter()

    def after_call(self, error: BaseException | None) -> None:
        """What is on its way comes here, and nowhere else."""
        del error
        moment = self._moments.get(get_ident())
        while moment is not None:
            try:
                with moment.lock:
                    moment.leave()
                return
            except Struck:
                continue

    def _hunt(self) -> None:
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        while True:
            Event().wait(self.random.uniform(0.005, 0.03))
            for moment in list(self._moments.values()):
                with moment.lock:
                    thread = moment.thread
                    if thread:
                        moment.leave()
                        self.strike()
                        raise_in(ctypes.c_ulong(thread), ctypes.py_object(Struck))


class SteppedClock(Inside):
    """The wall clock jumps, back and forth, by up to years."""

    name = "stepped clock"
    _step = 0

    def tick(self, tick: int) -> int:
        """What it says after the last step."""
        if self.often(0.1):
            self.strike()
            self._step = self.random.choice((-1, 1)) * self.random.randint(0, 10**17)
        return tick + self._step


class FailingClock(Inside):
    """The clock raises, in the transaction."""

    name = "failing clock"

    def tick(self, tick: int) -> int:
        """Raise, sometimes."""
        if self.often(0.05):
            self.strike()
            raise Struck("by the clock") if self.often(0.5) else KeyboardInterrupt
        return tick
