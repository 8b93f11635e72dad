"""What a win and a loss cost in a ledger of many instances, and a loss on one of many attempts."""

from __future__ import annotations

import gc
import os
import random
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionRecord,
)

from .big_ledger import Records, build, cached, crowded, nth, wins
from .contender import Contender, Kind, time_resolve, warm_up
from .measurements import DURABILITIES, Durability, T
from .ordinary import ORDINARY_KIND, fill_ordinary
from .ours import OURS, OURS_KIND
from .plain import PLAIN_KIND, fill
from .plan import Measure, Plan
from .results import Figure, Results
from .submissions import Minter

INSTANCES, ATTEMPTS = "instances in the ledger", "attempts on the instance"

_LATER = 10**11
"""Where the numbers begin of what is not in the files yet."""
_ROLLS_ON = 1_000_000
"""From so many instances on, a file is copied once, and all repeats go on in the copy."""

_MAKE = {OURS_KIND: build, PLAIN_KIND: fill, ORDINARY_KIND: fill_ordinary}
_Timed = defaultdict[Figure, list[float]]


def cost(
    part: str, operation: str, size: int, durability: Durability = "full", contender: str = OURS
) -> Figure:
    """Microseconds a call, in the median batch."""
    return Figure(part, operation, "µs", contender, durability, size)


@contextmanager
def instances(plan: Plan) -> Iterator[Measure]:
    """Wins, and losses on instances that were won at any time, over the size of a ledger.

    Beside them wins in a plain table of the same sizes. All files take turns, batch by batch.
    They are warmed up: copied just before, so that the system has them in memory, and past the
    first checkpoint. "Empty" is a ledger that has seen nothing but this.
    """
    kept = {kind: _files(plan, kind) for kind in (OURS_KIND, PLAIN_KIND)}
    minter = Minter(_LATER)
    with TemporaryDirectory(dir=plan.scratch) as scratch:

        def measure(into: Results) -> None:
            took: _Timed = defaultdict(list)
            losing = {size: _instances_of(size, plan) for size in plan.instances}
            gc.collect()
            with ExitStack() as stack:
                files = []
                for kind, sources in kept.items():
                    for size, source in sources.items():
                        path = _copy(source, Path(scratch, f"{kind.name}-{size}.db"), size)
                        contender = stack.enter_context(kind.open(path, "full"))
                        warm_up(contender, minter)
                        files.append((size, contender))
                for number in range(plan.growth_rounds):
                    for size, contender in _turned(files, number):
                        win = cost(INSTANCES, "win", size, contender=contender.name)
                        fresh = minter.first_attempts(plan.batch)
                        took[win].append(time_resolve(contender, fresh, "won"))
                        if contender.name == OURS:
                            won = losing[size][number * plan.batch :][: plan.batch] or fresh
                            rivals = minter.rivals(won)
                            loss = cost(INSTANCES, "lose", size)
                            took[loss].append(time_resolve(contender, rivals, "lost"))
            _put(took, into)

        yield measure


@contextmanager
def attempts(plan: Plan) -> Iterator[Measure]:
    """Losses on instances with few and with many attempts, all in one ledger, in turns.

    Beside them the ordinary contender, with few: it loads all attempts to decide one.
    """
    won = {size: _crowd_of(place, size) for place, size in enumerate(plan.attempts)}
    sizes = {OURS_KIND: plan.attempts, ORDINARY_KIND: plan.attempts_of_ordinary}
    sources = {
        kind: _crowds(plan, kind, {size: won[size] for size in sizes[kind]}) for kind in sizes
    }
    minter = Minter(_LATER)

    def measure(into: Results) -> None:
        took: _Timed = defaultdict(list)
        gc.collect()
        for durability in DURABILITIES:
            with TemporaryDirectory(dir=plan.scratch) as scratch, ExitStack() as stack:
                turns = []
                for kind, source in sources.items():
                    path = _copy(source, Path(scratch, f"{kind.name}.db"), 0)
                    contender = stack.enter_context(kind.open(path, durability))
                    warm_up(contender, minter)
                    turns += [(contender, size) for size in sizes[kind]]
                for number in range(plan.growth_rounds):
                    for contender, size in _turned(turns, number):
                        among = _around(won[size], number * plan.batch, plan.batch)
                        loss = cost(ATTEMPTS, "lose", size, durability, contender.name)
                        took[loss].append(_lose(contender, among, minter))
        _put(took, into)

    yield measure


def _lose(contender: Contender, among: Sequence[ResolutionRecord], minter: Minter) -> float:
    """Microseconds a loss on these. One more comes untimed just before it.

    So all find their pages in the cache: what differs is how many attempts came before.
    """
    earlier, timed = minter.rivals(among), minter.rivals(among)
    time_resolve(contender, earlier, "lost")
    return time_resolve(contender, timed, "lost")


def _crowd_of(place: int, size: int) -> list[ResolutionRecord]:
    """Instances that get so many attempts: many, if that is few, so that it stays so few."""
    first = place * 10_000
    return [nth(first + number) for number in range(max(1, 10_000 // size))]


def _around(these: Sequence[ResolutionRecord], first: int, number: int) -> list[ResolutionRecord]:
    return [these[(first + step) % len(these)] for step in range(number)]


def _instances_of(size: int, plan: Plan) -> list[ResolutionRecord]:
    """Instances of a ledger of this size, from anywhere in it, each once. None if it is empty."""
    draw = random.Random(0)  # noqa: S311 (the same draw in every run, no secret)
    enough = min(size, plan.growth_rounds * plan.batch)
    return [nth(number) for number in draw.sample(range(size), enough)]


def _crowds(plan: Plan, kind: Kind, won: dict[int, list[ResolutionRecord]]) -> Path:
    """A file in which these instances have so many attempts each."""

    def records() -> Records:
        rivals = Minter(_LATER // 2)
        return chain.from_iterable(crowded(some, size, rivals) for size, some in won.items())

    return cached(plan.cache, f"{kind.name}-crowds-{'-'.join(map(str, won))}", _MAKE[kind], records)


def _files(plan: Plan, kind: Kind) -> dict[int, Path]:
    return {
        size: cached(plan.cache, f"{kind.name}-{size}", _MAKE[kind], partial(wins, size))
        for size in plan.instances
    }


def _copy(source: Path, path: Path, size: int) -> Path:
    """A file to write in, on the disk, so that nothing of the copying is left to be done.

    It is in memory, too, as the file of a ledger is that is being used.
    """
    if size < _ROLLS_ON or not path.exists():
        shutil.copyfile(source, path)
        with path.open("rb+") as copied:
            os.fsync(copied.fileno())
    with path.open("rb") as copied:
        while copied.read(2**20):
            pass
    return path


def _turned(these: Sequence[T], number: int) -> list[T]:
    first = number % len(these)
    return [*these[first:], *these[:first]]


def _put(took: _Timed, into: Results) -> None:
    for figure, batches in took.items():
        into.add(figure, median(batches))
