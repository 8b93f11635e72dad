"""Read models by ranges: what the log demands of a range, and what is there.

Both are seen at one moment, so what differs is wrong, whoever goes on writing. A range ends
where a page of either ends, so memory is bounded whatever is in the tables.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ..domain.errors import CorruptLedger
from ..domain.records import FIRST
from ..projections.read_models import Key, ReadModel, Row, differing, order
from .codec import decode_recorded
from .database import Database, OperatorSession
from .rows import LogRow, Page
from .runs import LEAST, PAGE


class Range(Struct, frozen=True):
    """The rows of a read model with keys past some key, up to the end of this range."""

    demanded: dict[Key, Row]
    """In the order of their keys."""
    present: dict[Key, Row]
    differing: set[Key]
    unreadable: dict[Key, CorruptLedger]
    """Events that cannot be read: what they demand, nobody knows."""
    end: Key
    """The last key of the range; None if nothing comes after it."""
    head: int
    """The sequence of the newest event at the moment of which all this is."""
    leads_back: bool
    """Whether it ends no later than it begins, as in a damaged table: to go on would not end."""

    @property
    def differences(self) -> Iterator[tuple[Key, Row | None, Row | None]]:
        """What differs, by key: the key, the row that is demanded, and the one that is there."""
        keys: Iterable[Key] = (key for key in self.demanded if key in self.differing)
        if not self.differing <= self.demanded.keys():
            keys = sorted(self.differing, key=order)
        for key in keys:
            yield key, self.demanded.get(key), self.present.get(key)


def range_after(session: OperatorSession, model: ReadModel, after: Key) -> Range:
    """The next range. To be read in a snapshot, or under the write lock."""
    head = session.head_sequence()
    events, rows = _events(session, model, after, head), session.rows(model, after, PAGE)
    ends = [_key(model, page[-1]) for page in (events, rows) if page.cut]
    end = min(ends, key=order, default=None)
    if ends:
        for page in (events, rows):
            del page[bisect_right(page, order(end), key=lambda row: order(_key(model, row))) :]
    # What an instance begins with demands a row in one of the other read models.
    elsewhere = model.outcomes.isdisjoint(FIRST)
    demanded: dict[Key, Row] = {}
    unreadable: dict[Key, CorruptLedger] = {}
    for event in events:
        if elsewhere and event.position == 1 and event.tag in FIRST:
            continue
        try:
            row = model.demanded(decode_recorded(session.target, event.stored))
        except CorruptLedger as error:
            # Bare: what led to it would keep the whole page in memory.
            error.__traceback__ = error.__cause__ = error.__context__ = None
            unreadable[_key(model, event)] = error
            continue
        if row is not None:
            demanded[row[0]] = row  # type: ignore[index]  # a key
    present: dict[Key, Row] = {row[0]: row for row in rows}  # type: ignore[misc]
    if after is None and (row := session.row(model, None)):
        present[None] = row  # an older program's table may hold what has no key
    wrong = differing(demanded, present) - unreadable.keys()
    leads_back = None not in {after, end} and order(end) <= order(after)
    return Range(demanded, present, wrong, unreadable, end, head, leads_back)


def read_range(database: Database, model: ReadModel, after: Key) -> Range:
    """The next range, read in a short transaction of its own."""

    def look(session: OperatorSession) -> Range:
        with session.snapshot():
            return range_after(session, model, after)

    return database.read(look)


def _events(session: OperatorSession, model: ReadModel, after: Key, upto: int) -> Page[LogRow]:
    if model.key == "instance":
        closings_alone = model.outcomes == {"closed"}
        return session.first_events(after, upto, PAGE, closing=closings_alone)
    start = after + 1 if isinstance(after, int) else LEAST
    return session.log(start, upto, PAGE) if start <= upto else Page()


def _key(model: ReadModel, row: LogRow | Row) -> Key:
    if isinstance(row, LogRow):
        return row.stream if model.key == "instance" else row.sequence
    return row[0]  # type: ignore[return-value]
