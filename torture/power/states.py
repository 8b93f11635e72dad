"""The states in which a power cut can leave a disk, made from a recording.

The power is cut before each sync, before each mark, and at the end. Between these moments what
may be lost only grows, so whatever else a cut could leave is among the states of the next of them,
where as much or more has been acknowledged.

Of what is not durable at a cut, some has reached the disk: of few changes every subset is tried; of
more of them none, all, each beginning, each end, each one alone, all but each one, and subsets
drawn from a seed. Then writes are torn: the last one of each beginning in several ways, and those
of drawn subsets at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from random import Random

from msgspec import Struct

from .disk import Change, Disk, Left, Mark, Name, Recording, Resize, Sync, SyncNames, Write

SECTOR = 512


class Thoroughness(Struct, frozen=True):
    """How many states are made of each cut."""

    few: int = 8
    """Changes of which every subset is tried."""
    most: int = 1000
    """Beginnings, and as many ends, singles and so on: if there are more, some are drawn."""
    drawn: int = 16
    """Subsets drawn, whole and torn."""
    garbage: bool = False
    """Whether what a torn write has not written of its sectors may be anything."""


class Cut(Struct, frozen=True):
    """A state that a cut leaves."""

    step: int
    """How many steps were done by then."""
    marks: int
    """How many of them were marks."""
    left: Left


def cuts(recording: Recording, random: Random, how: Thoroughness) -> Iterator[Cut]:
    """All states, each once for as long as nothing more was acknowledged."""
    disk, marks = Disk(recording.before), 0
    seen: set[bytes] = set()
    for number, step in enumerate((*recording.steps, None)):
        if step is None or isinstance(step, Sync | SyncNames | Mark):
            for changes in survivors(disk.pending, random, how):
                left = disk.after(changes)
                digest = left.digest()
                if digest not in seen:
                    seen.add(digest)
                    yield Cut(number, marks, left)
        if isinstance(step, Mark):
            marks += 1
            # What is left now may be what was left before, but more is demanded of it.
            seen.clear()
        if step is not None:
            disk.take(step)


def survivors(
    pending: Sequence[Change | Name], random: Random, how: Thoroughness
) -> Iterator[list[Change | Name]]:
    """What may have reached the disk of changes that are not durable, in ever other ways."""
    for chosen in _subsets(len(pending), random, how):
        yield [pending[n] for n in chosen]
    for n in _some(range(len(pending)), random, how.most):
        change = pending[n]
        if not isinstance(change, Name):
            for torn in _ways_to_tear(change, random, garbage=how.garbage):
                yield [*pending[:n], *torn]
    if pending:
        for _ in range(how.drawn):
            yield list(_torn_at_random(pending, random, garbage=how.garbage))


def _subsets(count: int, random: Random, how: Thoroughness) -> Iterator[Sequence[int]]:
    everything = range(count)
    if count <= how.few:
        for chosen in product((False, True), repeat=count):
            yield [n for n in everything if chosen[n]]
        return
    yield ()
    yield everything
    for n in _some(everything, random, how.most):
        yield range(n)
        yield range(n, count)
        yield (n,)
        yield [other for other in everything if other != n]
    for _ in range(how.drawn):
        likely = random.random()
        yield [n for n in everything if random.random() < likely]


def _some(numbers: Sequence[int], random: Random, most: int) -> Sequence[int]:
    return numbers if len(numbers) <= most else sorted(random.sample(numbers, most))


def _ways_to_tear(change: Change, random: Random, *, garbage: bool) -> Iterator[list[Change]]:
    if isinstance(change, Resize):
        return
    size = len(change.data)
    end = change.offset + size
    part = random.randrange(size)
    yield [Write(change.file, end, b"")]  # the length alone: it reads as zeros, or as before
    yield [Write(change.file, change.offset, change.data[:part])]
    yield [
        Write(change.file, end, b""),
        Write(change.file, change.offset, change.data[:part]),
    ]
    yield [Write(change.file, change.offset + part, change.data[part:])]
    sectors = list(by_sectors(change))
    if len(sectors) > 1:
        yield [sector for sector in sectors if random.random() < 0.5]  # noqa: PLR2004
    if garbage:
        torn = random.choice(sectors)
        yield [
            Write(torn.file, torn.offset, random.randbytes(len(torn.data)))
            if sector is torn
            else sector
            for sector in sectors
        ]


def by_sectors(change: Write) -> Iterator[Write]:
    """A write as those of its parts that lie in one sector each."""
    at, end = change.offset, change.offset + len(change.data)
    while at < end:
        until = min(end, (at // SECTOR + 1) * SECTOR)
        yield Write(change.file, at, change.data[at - change.offset : until - change.offset])
        at = until


def _torn_at_random(
    pending: Iterable[Change | Name], random: Random, *, garbage: bool
) -> Iterator[Change | Name]:
    likely = random.random()
    for change in pending:
        if random.random() > likely:
            continue
        if isinstance(change, Name) or not random.randrange(2):
            yield change
        else:
            yield from random.choice([[change], *_ways_to_tear(change, random, garbage=garbage)])
