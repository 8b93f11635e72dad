"""What is measured, and how one batch of calls is timed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean, median
from time import perf_counter_ns
from typing import Literal, NamedTuple, TypeVar, get_args

Durability = Literal["full", "normal"]
DURABILITIES: tuple[Durability, ...] = get_args(Durability)

T = TypeVar("T")


class Series(NamedTuple):
    """One row of measurements."""

    durability: Durability
    operation: str
    contender: str


class Measurements:
    """What one repeat measured: for each series, the microseconds a call took, by batch."""

    def __init__(self) -> None:
        self._batches: defaultdict[Series, list[float]] = defaultdict(list)

    def add(self, series: Series, microseconds: float) -> None:
        """Add one batch, as microseconds a call."""
        self._batches[series].append(microseconds)

    def series(self) -> list[Series]:
        """All series, in the order in which they were first measured."""
        return list(self._batches)

    def median(self, series: Series) -> float:
        """Microseconds a call in the median batch: what a call ordinarily takes."""
        return median(self._batches[series])

    def mean(self, series: Series) -> float:
        """Microseconds a call on average: with checkpoints, which the median leaves out."""
        return fmean(self._batches[series])

    def ratio(self, numerator: Series, denominator: Series) -> float:
        """The ratio of two medians."""
        return self.median(numerator) / self.median(denominator)


def timed(call: Callable[[T], object], arguments: Sequence[T]) -> tuple[float, list[object]]:
    """Call with each argument in turn; return microseconds a call, and the answers."""
    began = perf_counter_ns()
    answers = [call(argument) for argument in arguments]
    return (perf_counter_ns() - began) / 1000 / len(arguments), answers
