"""What the ledger is to hold, as ratios of medians within one run."""

from __future__ import annotations

from typing import NamedTuple

from . import bytes_stored, cold_start, growth, one_thread, opening
from .measurements import DURABILITIES, Durability
from .ordinary import ORDINARY
from .ours import OURS
from .plain import PLAIN
from .results import Figure, Results
from .together import MINTING, PROCESSES, THREADS
from .unchained import UNCHAINED
from .waits import LONGEST, P99, P99_BY_TIME, THROUGHPUT, UNITS

MANY = 32
"""Threads or processes."""


class Target(NamedTuple):
    """A bound on the ratio of two figures."""

    name: str
    numerator: Figure
    denominator: Figure
    bound: float
    aim: float
    at_least: bool = False

    @property
    def wanted(self) -> str:
        """The bound and the aim, as a reader of the table needs them."""
        relation = "≥" if self.at_least else "≤"
        return f"{relation} {self.bound:.3g} (aim {self.aim:.3g})"

    def holds(self, ratio: float) -> bool:
        """Whether a ratio is as good as the bound."""
        return ratio >= self.bound if self.at_least else ratio <= self.bound

    def measured_in(self, results: Results) -> bool:
        """Whether the run has measured both figures. A short one, or one of some parts, has not."""
        return self.numerator in results and self.denominator in results


def _beside(  # noqa: PLR0913 - what a target is of
    name: str, ours: Figure, other: str, bound: float, aim: float, *, at_least: bool = False
) -> Target:
    return Target(name, ours, ours._replace(contender=other), bound, aim, at_least)


def _crowd(part: str, what: str, durability: Durability) -> Figure:
    return Figure(part, what, UNITS[what], OURS, durability, MANY)


def _crowds(part: str, what: str, bound: float, aim: float, *, at_least: bool) -> list[Target]:
    """At full durability, with prepared submissions and where callers mint them."""
    return [
        _beside(
            f"{MANY} {each}, full durability: {what}",
            _crowd(each, what, "full"),
            PLAIN,
            bound,
            aim,
            at_least=at_least,
        )
        for each in (part, part + MINTING)
    ]


def _threads() -> list[Target]:
    return [
        *_crowds(THREADS, THROUGHPUT, 4, 6, at_least=True),
        *_crowds(THREADS, P99, 1 / 4, 1 / 8, at_least=False),
        *_crowds(THREADS, P99_BY_TIME, 1 / 4, 1 / 8, at_least=False),
        *_crowds(THREADS, LONGEST, 1 / 40, 1 / 80, at_least=False),
        _beside(
            f"{MANY} threads, normal durability: {THROUGHPUT}",
            _crowd(THREADS, THROUGHPUT, "normal"),
            PLAIN,
            1.2,
            1.8,
            at_least=True,
        ),
    ]


def _processes() -> list[Target]:
    return [
        *_crowds(PROCESSES, THROUGHPUT, 2, 2.4, at_least=True),
        *_crowds(PROCESSES, LONGEST, 1 / 10, 1 / 16, at_least=False),
    ]


def _growth() -> list[Target]:
    crowds = [
        (
            growth.cost(growth.ATTEMPTS, "lose", 100_000, durability),
            growth.cost(growth.ATTEMPTS, "lose", 10, durability),
            f"loss with 100,000 earlier attempts, against 10, {durability} durability",
        )
        for durability in DURABILITIES
    ]
    return [
        *(Target(name, many, few, 1.15, 1.08) for many, few, name in crowds),
        *(
            Target(
                f"win at {size} million instances, against an empty ledger, full durability",
                growth.cost(growth.INSTANCES, "win", size * 1_000_000),
                growth.cost(growth.INSTANCES, "win", 0),
                1.2,
                1.1,
            )
            for size in (1, 10)
        ),
    ]


def _ordinary() -> list[Target]:
    return [
        *(
            _beside(
                f"win, against the ordinary aggregate, {durability} durability",
                one_thread.cost("win", OURS, durability),
                ORDINARY,
                0.7,
                0.6,
            )
            for durability in DURABILITIES
        ),
        *(
            _beside(
                f"loss after 10, against the ordinary aggregate, {durability} durability",
                growth.cost(growth.ATTEMPTS, "lose", 10, durability),
                ORDINARY,
                0.4,
                0.35,
            )
            for durability in DURABILITIES
        ),
    ]


TARGETS = (
    _beside("win, full durability", one_thread.cost("win", OURS, "full"), PLAIN, 1.3, 1.2),
    _beside("win, normal durability", one_thread.cost("win", OURS, "normal"), PLAIN, 2.1, 1.8),
    *_threads(),
    *_processes(),
    *_growth(),
    _beside(
        "winner, the id parsed beforehand",
        one_thread.cost("winner", OURS, "full"),
        PLAIN,
        1.25,
        1.1,
    ),
    _beside(
        "bytes an attempt, wins only",
        bytes_stored.stored(bytes_stored.WINS, OURS),
        PLAIN,
        2.05,
        1.95,
    ),
    *(
        _beside(
            f"open, win, close, {durability} durability",
            opening.visit(OURS, durability),
            PLAIN,
            1.6,
            1.35,
        )
        for durability in DURABILITIES
    ),
    Target(
        "resolution-ledger winner, cold, against import eventsourcing.sqlite",
        cold_start.COMMAND,
        cold_start.IMPORT,
        2.0,
        1.5,
    ),
    *_ordinary(),
    _beside(
        "win, against the same without its chain",
        one_thread.cost("win", OURS, "full"),
        UNCHAINED,
        1.1,
        1.05,
    ),
)
