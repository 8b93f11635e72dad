"""Who waits in this process, as tests see it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

from processes import PATIENCE
from resolution_ledger.infra import news


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Go on once the condition holds. It must come true sooner or later."""
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "it has not come true"
        sleep(0.001)


def somebody_looks() -> bool:
    """Whether there is a thread that looks for all who wait."""
    return news._looking.locked()  # noqa: SLF001 (there is no other way in)


def listeners() -> int:
    """How many wait."""
    return len(news._listeners)  # noqa: SLF001 (as above)


def until_listening(number: int = 1) -> None:
    """Go on once at least so many wait."""
    until(lambda: listeners() >= number)


def see_that_nobody_listens() -> None:
    """Nobody waits any more, and the thread that looks for all has ended or will."""
    assert listeners() == 0
    until(lambda: not somebody_looks())
