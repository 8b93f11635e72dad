"""How much a run measures."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from .measurements import DURABILITIES, Durability
from .results import Results


@dataclass(frozen=True)
class Plan:
    """The sizes of one repeat of each part, and where files go."""

    scratch: Path
    """A folder on the disk to measure. It is emptied afterwards."""
    cache: Path
    """Where large ledgers stay that take long to build."""
    rounds: int
    """Batches of each operation, contender and durability, in one thread."""
    batch: int
    """Calls in each of them."""
    seconds: float
    """For which threads or processes compete. The longest wait cannot come out much longer."""
    durabilities: tuple[Durability, ...]
    """With which threads compete."""
    threads: tuple[int, ...]
    processes: tuple[int, ...]
    processes_of_four: tuple[int, ...]
    minting: tuple[int, ...]
    """Numbers of threads, and of processes, that mint a submission before each call."""
    few: tuple[int, ...]
    """The numbers of threads and of processes at which more is measured than the necessary:
    normal durability for processes, and the ordinary contender."""
    instances: tuple[int, ...]
    """The sizes of ledgers."""
    attempts: tuple[int, ...]
    """On one instance."""
    attempts_of_ordinary: tuple[int, ...]
    """The same for the ordinary contender, some of ``attempts``."""
    growth_rounds: int
    stored: int
    """Instances in the files whose bytes are counted."""
    openings: int
    starts: int


Measure = Callable[[Results], None]
"""Measures one repeat of a part."""

Part = Callable[[Plan], AbstractContextManager[Measure]]
"""Prepares a part, once for all repeats."""


def full(scratch: Path, cache: Path) -> Plan:
    """Everything: five repeats take about a quarter of an hour on two cores."""
    return Plan(
        scratch=scratch,
        cache=cache,
        rounds=120,
        batch=10,
        seconds=1.5,
        durabilities=DURABILITIES,
        threads=(1, 2, 4, 8, 16, 32, 64, 128),
        processes=(1, 2, 4, 8, 16, 32),
        processes_of_four=(2, 8, 32),
        minting=(32,),
        few=(1, 8, 32),
        instances=(0, 1_000, 10_000, 100_000, 1_000_000),
        attempts=(10, 100, 1_000, 10_000, 100_000),
        attempts_of_ordinary=(10, 100),
        growth_rounds=40,
        stored=20_000,
        openings=40,
        starts=7,
    )


def quick(scratch: Path, cache: Path) -> Plan:
    """Enough to see that everything works."""
    return Plan(
        scratch=scratch,
        cache=cache,
        rounds=30,
        batch=10,
        seconds=0.5,
        durabilities=DURABILITIES,
        threads=(1, 8, 32),
        processes=(1, 8, 32),
        processes_of_four=(2,),
        minting=(32,),
        few=(8,),
        instances=(0, 1_000, 10_000),
        attempts=(10, 100, 1_000),
        attempts_of_ordinary=(10,),
        growth_rounds=10,
        stored=2_000,
        openings=10,
        starts=3,
    )


def large(scratch: Path, cache: Path) -> Plan:
    """Ten million instances, beside one million and none."""
    return replace(full(scratch, cache), instances=(0, 1_000_000, 10_000_000))
