"""One thread: all contenders side by side, with the same submissions, taken in turns."""

from __future__ import annotations

import gc
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory

from .contender import Contender, time_resolve, time_winner, warm_up
from .measurements import DURABILITIES, Durability
from .ordinary import ORDINARY_KIND
from .ours import OURS_KIND
from .plain import PLAIN_KIND
from .plan import Measure, Plan
from .results import Figure, Results
from .submissions import Minter
from .unchained import UNCHAINED, UNCHAINED_KIND

PART = "one thread"
OPERATIONS = ("win", "lose", "replay")
WINNER = "winner"
MEAN = " on average"
"""What is appended to an operation's name for the mean, which has the checkpoints in it."""

_KINDS = (OURS_KIND, PLAIN_KIND, ORDINARY_KIND, UNCHAINED_KIND)
_ONLY_WINS = (UNCHAINED,)
"""Contenders that are measured in the first operation alone."""


def cost(operation: str, contender: str, durability: Durability) -> Figure:
    """Microseconds a call, in the median batch."""
    return Figure(PART, operation, "µs", contender, durability)


class Round:
    """The submissions of one batch of each operation, on instances of its own."""

    def __init__(self, minter: Minter, batch: int) -> None:
        self.wins = minter.first_attempts(batch)
        self._losses = minter.rivals(self.wins)

    def run(self, operation: str, contender: Contender) -> float:
        """Have the contender do one batch; return microseconds a call.

        To be asked in the order of ``OPERATIONS``.
        """
        match operation:
            case "win":
                return time_resolve(contender, self.wins, "won")
            case "lose":
                return time_resolve(contender, self._losses, "lost")
        return time_resolve(contender, self.wins, "replayed")


@contextmanager
def one_thread(plan: Plan) -> Iterator[Measure]:
    """What each operation costs."""

    def measure(into: Results) -> None:
        for durability in DURABILITIES:
            gc.collect()  # what others left is not for this one to clear away
            with TemporaryDirectory(dir=plan.scratch) as fresh:
                _compare(Path(fresh), durability, plan, into)

    yield measure


def _compare(directory: Path, durability: Durability, plan: Plan, into: Results) -> None:
    """Measure each operation and contender.

    In each round the contenders take turns, batch by batch, and each round another one
    begins, so that whatever else the machine does hits them alike. In the end they are asked for
    winners all over the instances that were won, by a connection that is kept open.
    """
    minter = Minter()
    rounds = [Round(minter, plan.batch) for _ in range(plan.rounds)]
    took: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    with ExitStack() as stack:
        contenders = [
            stack.enter_context(kind.open(directory / f"{kind.name}.db", durability))
            for kind in _KINDS
        ]
        for contender in contenders:
            warm_up(contender, minter)
        for number, this_round in enumerate(rounds):
            first = number % len(contenders)
            turns = contenders[first:] + contenders[:first]
            for operation in OPERATIONS:
                for contender in turns:
                    if operation == "win" or contender.name not in _ONLY_WINS:
                        took[operation, contender.name].append(this_round.run(operation, contender))
        won = [record for each in rounds for record in each.wins]
        draw = random.Random(0)  # noqa: S311 (the same draw in every run, no secret)
        for number in range(plan.rounds):
            asked = draw.sample(won, len(won) // 10)
            first = number % len(contenders)
            for contender in contenders[first:] + contenders[:first]:
                if contender.name not in _ONLY_WINS:
                    took[WINNER, contender.name].append(time_winner(contender, asked))
    for (operation, name), batches in took.items():
        into.add(cost(operation, name, durability), median(batches))
        into.add(cost(operation + MEAN, name, durability), fmean(batches))
