"""A log that other processes append to, as far as whoever waits for news asks a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from resolution_ledger.infra.bells import Bell
from resolution_ledger.infra.news import listening


class FakeLog:
    """Events are the names of their streams."""

    target = "a log"

    def __init__(self, *streams: str) -> None:
        self.events = list(streams)
        self.before_reading: Callable[[], None] = lambda: None
        self.page_ends_at = 2**63 - 1
        self.fault: Exception | None = None
        self.reads = 0
        self.closed = False

    def close(self) -> None:
        """That somebody did it is all that is to be known."""
        self.closed = True

    def place(self) -> object:
        """It has no place but itself."""
        return self

    def read(self, work: Callable[[Any], Any], *, timeout: float | None = None) -> Any:
        """What ``work`` returns, or the fault."""
        assert timeout == 0  # whoever looks for all waits for nobody
        self.reads += 1
        self.before_reading()
        if self.fault is not None:
            raise self.fault
        return work(self)

    def head_sequence(self) -> int:
        """How many events there are."""
        return len(self.events)

    def log(self, start: int, upto: int, limit: int) -> list[Any]:
        """Events by sequence."""
        last = min(upto, start + limit - 1, self.page_ends_at)
        return [
            SimpleNamespace(sequence=number, stream=self.events[number - 1])
            for number in range(start, last + 1)
        ]


@contextmanager
def bells(log: FakeLog, *streams: str | None) -> Iterator[list[Bell]]:
    """For each stream somebody who listens; what they hear."""
    ringing = [Bell() for _ in streams]
    contexts = [
        listening(log, log.place(), bell.ring, stream)
        for bell, stream in zip(ringing, streams, strict=True)
    ]
    for context in contexts:
        context.__enter__()
    try:
        yield ringing
    finally:
        for context in contexts:
            context.__exit__(None, None, None)


def heard(ringing: list[Bell]) -> list[bool]:
    """Which of them ring."""
    return [bell.heard(0) for bell in ringing]
