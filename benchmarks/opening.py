"""What it takes to open, win and close each time, as a host does that keeps nothing open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter_ns

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionLedger,
    ResolutionRecord,
)

from .kinds import KINDS
from .measurements import DURABILITIES, Durability
from .ordinary import ORDINARY, open_ordinary
from .ours import OURS
from .plain import PLAIN, OneRow, connect, submission
from .plan import Measure, Plan
from .results import Figure, Results
from .submissions import WORKSPACE, Minter

PART, WHAT = "opening", "open, win, close"

_Visit = Callable[[Path, Durability, ResolutionRecord], object]


def visit(contender: str, durability: Durability) -> Figure:
    """Microseconds for opening, one win and closing, in the median case."""
    return Figure(PART, WHAT, "µs", contender, durability)


def _ours(path: Path, durability: Durability, record: ResolutionRecord) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability=durability) as ledger:
        ledger.resolve(record)


def _plain(path: Path, durability: Durability, record: ResolutionRecord) -> None:
    with closing(connect(path, durability)) as connection:
        OneRow(connection).resolve(submission(record))


def _ordinary(path: Path, durability: Durability, record: ResolutionRecord) -> None:
    with open_ordinary(path, durability) as contender:
        contender.resolve(contender.submission(record))


_VISITS: dict[str, _Visit] = {OURS: _ours, PLAIN: _plain, ORDINARY: _ordinary}


@contextmanager
def opening(plan: Plan) -> Iterator[Measure]:
    """On files that are there and that nobody else has open, in turns."""
    minter = Minter()

    def measure(into: Results) -> None:
        for durability in DURABILITIES:
            with TemporaryDirectory(dir=plan.scratch) as scratch:
                paths = {name: Path(scratch, f"{name}.db") for name in _VISITS}
                for name, path in paths.items():
                    with KINDS[name].open(path, durability) as contender:
                        for record in minter.first_attempts(plan.openings):
                            contender.resolve(contender.submission(record))
                took: dict[str, list[float]] = {name: [] for name in _VISITS}
                turns = list(paths.items())
                for record in minter.first_attempts(plan.openings):
                    turns.append(turns.pop(0))
                    for name, path in turns:
                        began = perf_counter_ns()
                        _VISITS[name](path, durability, record)
                        took[name].append((perf_counter_ns() - began) / 1000)
            for name, each in took.items():
                into.add(visit(name, durability), median(each))

    yield measure
