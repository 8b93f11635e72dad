"""Clients that die, or stop, at the worst of moments: inside the transaction and the commit."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from time import sleep

from resolution_ledger.infra.sqlite.connection import OpenConnection

from .inside import Inside, die, in_main_thread


class KillInTransaction(Inside):
    """While the clock is read, before a statement, or in the middle of one.

    What was begun must be as if it had not been.
    """

    name = "kill in the transaction"

    def begun(self, connection: OpenConnection) -> None:
        """Have SQLite call at a statement to come, or at a step of one, seldom."""
        if self.often(0.01):
            if self.often(0.5):
                connection.connection.set_trace_callback(self._countdown(6))
            else:
                connection.connection.set_progress_handler(self._countdown(600), 1)

    def _countdown(self, most: int) -> Callable[..., None]:
        left = self.random.randint(1, most)

        def die_at_last(*_: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self.strike()
                die()

        return die_at_last

    def tick(self, tick: int) -> int:
        """Die, seldom."""
        if self.often(0.01):
            self.strike()
            die()
        return tick


class KillInCommit(Inside):
    """A timer of microseconds, which the system lets off wherever the commit has come to."""

    name = "kill in the commit"

    def arm(self) -> None:
        """Have the alarm end the process, with no handler that would wait for the interpreter."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def committing(self, connection: OpenConnection) -> None:
        """Die within the next tenth of a millisecond, seldom."""
        del connection
        if self.often(0.01):
            self.strike()
            signal.setitimer(signal.ITIMER_REAL, self.random.uniform(1e-6, 1e-4))


class KillInWrite(Inside):
    """The commit ends in the middle of a write, which may be half done."""

    name = "kill in a write"

    def arm(self) -> None:
        """Have a file that grows too large end the process."""
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

    def committing(self, connection: OpenConnection) -> None:
        """Allow the log a few more pages and a part of one, seldom."""
        del connection
        if not self.often(0.01):
            return
        try:
            size = os.stat(f"{self.place.ledger}-wal").st_size
        except OSError:
            return
        self.strike()
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        # A log that has begun anew is overwritten from its beginning: the limit may be anywhere.
        room = size + self.random.randint(0, 12000) if self.often(0.5) else size
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (max(1, room - self.random.randint(0, 4000)), most)
        )


class StopInTransaction(Inside):
    """The process stops with the write lock in its hands, for longer than some wait."""

    name = "stop in the transaction"

    def tick(self, tick: int) -> int:
        """Stop, after having asked to be woken later."""
        if self.often(0.01):
            self.strike()
            seconds = self.random.choice((0.1, 0.3, 0.7))
            self.place.append(f"stopped/{os.getpid()}", f"{seconds}\n")
            os.kill(os.getpid(), signal.SIGSTOP)
        return tick


class Fork(Inside):
    """The client forks with the ledger open, and both go on."""

    name = "fork"
    forks = 0

    def wants_to_fork(self) -> bool:
        """Whether it does now. Only the main thread asks."""
        if in_main_thread() and self.forks < 2 and self.often(0.03):  # noqa: PLR2004
            self.forks += 1
            self.strike()
            return True
        return False


class ExitInFlight(Inside):
    """The main thread returns while others call."""

    name = "exit with calls in flight"

    def wants_to_exit(self) -> bool:
        """Whether the interpreter is to end now."""
        if in_main_thread() and self.often(0.03):
            sleep(self.random.uniform(0, 0.003))
            return True
        return False
