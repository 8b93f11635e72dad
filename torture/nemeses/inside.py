"""What a client carries inside, and the points at which it may strike."""

from __future__ import annotations

import os
import signal
from random import Random
from threading import Lock, get_ident, main_thread
from typing import ClassVar

from resolution_ledger.infra.sqlite.connection import OpenConnection

from ..place import Place


class Struck(Exception):
    """What a nemesis raises inside a call."""


class Inside:
    """One nemesis within one client. Each does what it can at some of the points."""

    name: ClassVar[str]

    def __init__(self, place: Place, client: str, random: Random) -> None:
        self.place = place
        self.client = client
        self.random = random

    def arm(self) -> None:
        """Before the first call, in the main thread."""

    def in_call(self) -> None:
        """The last thing before the ledger is called."""

    def after_call(self, error: BaseException | None) -> None:
        """Back from it. Whatever is still to come must not come any more."""

    def tick(self, tick: int) -> int:
        """The clock is read, in the transaction: what it says."""
        return tick

    def begun(self, connection: OpenConnection) -> None:
        """A write transaction is about to begin."""

    def committing(self, connection: OpenConnection) -> None:
        """A commit is about to begin."""

    def strike(self) -> None:
        """It strikes now."""
        self.place.strike(self.name)

    def often(self, share: float) -> bool:
        """Whether now is one of so many times."""
        return self.random.random() < share


def in_main_thread() -> bool:
    """Whether signals arrive in this thread."""
    return get_ident() == main_thread().ident


class Moment:
    """Whether a thread is inside a call, so that it is struck there and nowhere else."""

    def __init__(self) -> None:
        self.thread = 0
        self.lock = Lock()

    def enter(self) -> None:
        """From now on it may be struck, once."""
        self.thread = get_ident()

    def leave(self) -> None:
        """From now on it may not."""
        self.thread = 0


def die(number: int = signal.SIGKILL) -> None:
    """End this process without a word."""
    os.kill(os.getpid(), number)
