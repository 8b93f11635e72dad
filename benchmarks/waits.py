"""What those who wait for each other get done, and how long they wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from statistics import fmean
from typing import NamedTuple

from .measurements import Durability
from .results import Figure, Results

THROUGHPUT, P99, P99_BY_TIME, LONGEST, FAIRNESS = (
    "throughput",
    "p99",
    "p99 by time",
    "longest wait",
    "fairness",
)
UNITS = {
    THROUGHPUT: "wins/s",
    P99: "ms",
    P99_BY_TIME: "ms",
    LONGEST: "ms",
    FAIRNESS: "slowest / mean",
}


class Calls(NamedTuple):
    """What one thread did."""

    took: list[float]
    """Seconds, of each call. The last one ended when the time was over."""

    @property
    def in_time(self) -> int:
        """How many ended in time."""
        return len(self.took) - 1


class Crowd(NamedTuple):
    """What all of them got done together, in the order of ``UNITS``.

    ``p99``: what 99 of 100 calls took at most. Where one thread runs and the others starve, nearly
    all calls are those of the one that runs, and it says nothing about the others.

    ``p99_by_time``: pick a moment, and one of those who wait at it. In 99 of 100 cases that call
    takes so long at most. Each call counts by its length, since it is waited for as long. So a
    thread that starves counts as much as the one that makes all the calls meanwhile.

    ``fairness``: the calls of the slowest thread, as a share of the mean. 1 is fair.
    """

    a_second: float
    p99: float
    p99_by_time: float
    longest: float
    fairness: float


def crowd(calls: Sequence[Calls], seconds: float) -> Crowd:
    """Put together what each thread did in so many seconds."""
    took = sorted(one for each in calls for one in each.took)
    counts = [each.in_time for each in calls]
    until = list(accumulate(took))
    by_time = next(one for one, sum_ in zip(took, until, strict=True) if sum_ >= until[-1] * 0.99)
    return Crowd(
        sum(counts) / seconds,
        took[(len(took) * 99 - 1) // 100] * 1000,
        by_time * 1000,
        took[-1] * 1000,
        min(counts) / fmean(counts) if any(counts) else 0.0,
    )


def figures(part: str, contender: str, durability: Durability, size: int) -> Iterator[Figure]:
    """A figure for each number of a crowd."""
    for what, unit in UNITS.items():
        yield Figure(part, what, unit, contender, durability, size)


def put(  # noqa: PLR0913, PLR0917 - what a figure is of
    into: Results, part: str, contender: str, durability: Durability, size: int, measured: Crowd
) -> None:
    """Add all numbers of a crowd."""
    named = figures(part, contender, durability, size)
    for figure, value in zip(named, measured, strict=True):
        into.add(figure, value)
