"""What the ledger may cost, as ratios of medians."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from .crowd import LOSE_AFTER_FEW, LOSE_AFTER_MANY
from .measurements import Durability, Measurements, Series
from .ordinary import ORDINARY
from .ours import OURS
from .plain import PLAIN
from .unchained import UNCHAINED


class Spread(NamedTuple):
    """A ratio over the repeats."""

    median: float
    least: float
    greatest: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}..{self.greatest:.2f})"


class Target(NamedTuple):
    """A bound on the ratio of two series."""

    numerator: Series
    denominator: Series
    bound: float

    def __str__(self) -> str:
        above, below = self.numerator, self.denominator
        other = below.contender if above.operation == below.operation else below.operation
        return f"{above.operation} at most {self.bound} x {other} ({above.durability})"


def spread(repeats: Sequence[Measurements], numerator: Series, denominator: Series) -> Spread:
    """The ratio within each repeat, over all of them."""
    ratios = [repeat.ratio(numerator, denominator) for repeat in repeats]
    return Spread(median(ratios), min(ratios), max(ratios))


def _beside(durability: Durability, operation: str, contender: str, bound: float) -> Target:
    ours = Series(durability, operation, OURS)
    return Target(ours, ours._replace(contender=contender), bound)


def _depth(durability: Durability, bound: float) -> Target:
    after_many = Series(durability, LOSE_AFTER_MANY, OURS)
    return Target(after_many, after_many._replace(operation=LOSE_AFTER_FEW), bound)


TARGETS = (
    _beside("full", "win", PLAIN, 1.35),
    _beside("normal", "win", PLAIN, 2.5),
    _beside("full", "win", ORDINARY, 0.7),
    _beside("normal", "win", ORDINARY, 0.7),
    _beside("full", LOSE_AFTER_FEW, ORDINARY, 0.4),
    _beside("normal", LOSE_AFTER_FEW, ORDINARY, 0.4),
    _beside("full", "win", UNCHAINED, 1.1),
    _depth("full", 1.2),
    _depth("normal", 1.2),
)
