"""All contenders, side by side: the same submissions, taken in turns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from .contender import Contender, time_resolve, time_winner, warm_up
from .measurements import Durability, Measurements, Series
from .ordinary import ORDINARY, open_ordinary
from .ours import OURS, open_ours
from .plain import PLAIN, open_plain
from .submissions import Minter
from .unchained import UNCHAINED, open_unchained

CONTENDERS = (OURS, PLAIN, ORDINARY)
OPERATIONS = ("win", "lose", "replay", "winner")

ONLY_WINS = (UNCHAINED,)
"""Contenders that are measured beside ours in the first operation alone."""

_OPEN: tuple[Callable[[Path, Durability], AbstractContextManager[Contender]], ...] = (
    open_ours,
    open_plain,
    open_ordinary,
    open_unchained,
)


class Round:
    """The submissions of one batch of each operation, on instances of its own."""

    def __init__(self, minter: Minter, batch: int) -> None:
        self._wins = minter.first_attempts(batch)
        self._losses = minter.rivals(self._wins)

    def run(self, operation: str, contender: Contender) -> float:
        """Have the contender do one batch; return microseconds a call.

        To be asked in the order of ``OPERATIONS``.
        """
        match operation:
            case "win":
                return time_resolve(contender, self._wins, "won")
            case "lose":
                return time_resolve(contender, self._losses, "lost")
            case "replay":
                return time_resolve(contender, self._wins, "replayed")
        return time_winner(contender, self._wins)


def compare(
    directory: Path, durability: Durability, rounds: int, batch: int, into: Measurements
) -> None:
    """Measure ``rounds`` batches of ``batch`` calls of each operation and contender.

    In each round the contenders take turns, batch by batch, and each round another one
    begins, so that whatever else the machine does hits them alike.
    """
    minter = Minter()
    plan = [Round(minter, batch) for _ in range(rounds)]
    with ExitStack() as stack:
        contenders = [stack.enter_context(open_(directory, durability)) for open_ in _OPEN]
        for contender in contenders:
            warm_up(contender, minter)
        for number, this_round in enumerate(plan):
            first = number % len(contenders)
            turns = contenders[first:] + contenders[:first]
            for operation in OPERATIONS:
                for contender in turns:
                    if operation != "win" and contender.name in ONLY_WINS:
                        continue
                    took = this_round.run(operation, contender)
                    into.add(Series(durability, operation, contender.name), took)
