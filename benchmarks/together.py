"""Threads and processes that win at the same time, each time another instance.

The threads of a process share a ledger; to the plain table each has a connection of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from .contender import Kind
from .crew import started
from .measurements import DURABILITIES, Durability
from .ordinary import ORDINARY_KIND
from .ours import OURS_KIND
from .plain import PLAIN_KIND
from .plan import Measure, Plan
from .results import Results
from .waits import put

THREADS, PROCESSES, PROCESSES_OF_FOUR = "threads", "processes", "processes of four threads"
MINTING = " that mint"
"""Appended where callers mint a submission before each call, as a host does.

With all of them prepared whoever has just committed asks for the lock again at once, which suits
the plain table: one caller runs, and the others starve. With some microseconds between two calls
the lock changes hands more often.
"""


@contextmanager
def threads(plan: Plan) -> Iterator[Measure]:
    """One process, more and more threads."""
    repeats = count()
    with started(1, plan.scratch) as crew:

        def measure(into: Results) -> None:
            first = next(repeats)
            for durability in plan.durabilities:
                for size in plan.threads:
                    for kind in _turns(plan, durability, size, first):
                        measured = crew.run(kind, durability, 1, size, plan.seconds)
                        put(into, THREADS, kind.name, durability, size, measured)
            for size in plan.minting:
                for kind in _pair(first):
                    measured = crew.run(kind, "full", 1, size, plan.seconds, minting=True)
                    put(into, THREADS + MINTING, kind.name, "full", size, measured)

        yield measure


@contextmanager
def processes(plan: Plan) -> Iterator[Measure]:
    """More and more processes of one thread each, and some of four threads each."""
    repeats = count()
    with started(max(plan.processes + plan.processes_of_four), plan.scratch) as crew:

        def measure(into: Results) -> None:
            first = next(repeats)
            for durability in DURABILITIES:
                for size in plan.processes if durability == "full" else plan.few:
                    for kind in _turns(plan, durability, size, first):
                        measured = crew.run(kind, durability, size, 1, plan.seconds)
                        put(into, PROCESSES, kind.name, durability, size, measured)
            for size in plan.minting:
                for kind in _pair(first):
                    measured = crew.run(kind, "full", size, 1, plan.seconds, minting=True)
                    put(into, PROCESSES + MINTING, kind.name, "full", size, measured)
            for size in plan.processes_of_four:
                for kind in _pair(first):
                    measured = crew.run(kind, "full", size, 4, plan.seconds)
                    put(into, PROCESSES_OF_FOUR, kind.name, "full", size, measured)

        yield measure


def _turns(plan: Plan, durability: Durability, size: int, first: int) -> list[Kind]:
    """Who is measured, in turns: each repeat another one begins."""
    if durability == "full" and size in plan.few:
        return [*_pair(first), ORDINARY_KIND]
    return _pair(first)


def _pair(first: int) -> list[Kind]:
    pair = [OURS_KIND, PLAIN_KIND]
    return pair[::-1] if first % 2 else pair
