"""Fails if the ledger is far slower than it should be: ``python -m benchmarks.short``.

It measures a little of a run, without processes, and allows twice what the targets do, so that a
gross slowdown shows and the weather does not. Of threads it asks only for half of what they get
done with the plain table, which on a quiet machine is fast, though unfair. What misses that is
measured once more before it counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from . import growth, one_thread, opening
from .environment import environment
from .files import FILES
from .measurements import DURABILITIES
from .ours import OURS
from .parts import PARTS
from .plain import PLAIN
from .plan import Plan, quick
from .results import Figure, Results
from .together import THREADS
from .waits import LONGEST, THROUGHPUT, UNITS

_REPEATS = {"one-thread": 1, "threads": 3, "attempts": 1, "opening": 1}
"""By part. One of threads is a single longest wait; one of the others has many batches in it."""
_MANY = 32


class Check:
    """A ratio that is measured by a part, and what it may come to."""

    def __init__(self, part: str, above: Figure, below: Figure, limit: float) -> None:
        self.part = part
        self._above = above
        self._below = below
        self._limit = limit

    def holds(self, results: Results) -> bool:
        """Whether the ratio is within its limit; say so."""
        ratio = results.spread(self._above, self._below)
        holds = ratio.median <= self._limit
        name = f"{self._above.what}, {self._above.durability}: {self._above.contender}"
        other = f"{self._below.what} {self._below.size or ''}".strip()
        if self._below.contender != self._above.contender:
            other = self._below.contender
        verdict = "" if holds else "  TOO SLOW"
        print(f"{name} / {other}: {ratio}, at most {self._limit:.3g}{verdict}")
        return holds


def _crowd(what: str, contender: str) -> Figure:
    return Figure(THREADS, what, UNITS[what], contender, "full", _MANY)


def _beside_plain(part: str, ours: Figure, limit: float) -> Check:
    return Check(part, ours, ours._replace(contender=PLAIN), limit)


CHECKS = (
    _beside_plain("one-thread", one_thread.cost("win", OURS, "full"), 2 * 1.3),
    _beside_plain("one-thread", one_thread.cost("win", OURS, "normal"), 2 * 2.1),
    _beside_plain("one-thread", one_thread.cost("winner", OURS, "full"), 2 * 1.25),
    _beside_plain("threads", _crowd(LONGEST, OURS), 2 / 40),
    # How far the plain table collapses depends on the disk and on what else the machine does.
    Check("threads", _crowd(THROUGHPUT, PLAIN), _crowd(THROUGHPUT, OURS), 2.0),
    *(
        Check(
            "attempts",
            growth.cost(growth.ATTEMPTS, "lose", 1_000, durability),
            growth.cost(growth.ATTEMPTS, "lose", 10, durability),
            2 * 1.15,
        )
        for durability in DURABILITIES
    ),
    _beside_plain("opening", opening.visit(OURS, "full"), 2 * 1.6),
)


def check(checks: Iterable[Check], plan: Plan) -> list[Check]:
    """Measure the parts that these take; return those that do not hold."""
    results = Results(environment())
    for name in dict.fromkeys(each.part for each in checks):
        with PARTS[name](plan) as part:
            for _ in range(_REPEATS[name]):
                part(results)
    return [each for each in checks if not each.holds(results)]


def main() -> None:
    """``python -m benchmarks.short``."""
    FILES.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=FILES) as scratch:
        plan = replace(
            quick(Path(scratch), FILES / "ledgers"),
            rounds=30,
            seconds=0.3,
            threads=(_MANY,),
            durabilities=("full",),
            minting=(),
            few=(),
            attempts=(10, 1_000),
        )
        missed = check(CHECKS, plan)
        if missed:
            print("once more:")
            missed = check(missed, plan)
    if missed:
        sys.exit("the ledger is far slower than it should be")


if __name__ == "__main__":
    main()
