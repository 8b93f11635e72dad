"""Read models against the log: what the log demands of a range, and what is there.

A range ends where a page of either ends, so memory is bounded whatever is in the tables.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from ..domain.errors import CorruptLedger
from ..domain.records import WINNING
from ..projections.read_models import WINNERS, Key, ReadModel, Row, differing, order
from .codec import decode_attempt
from .database import Database, LogRow, OperatorSession
from .runs import FIRST, PAGE


class Range(Struct, frozen=True):
    """The rows of a read model with keys past some key, up to the end of this range."""

    demanded: dict[Key, Row]
    present: dict[Key, Row]
    differing: set[Key]
    unreadable: tuple[CorruptLedger, ...]
    """Of events that cannot be read: what they demand, nobody knows."""
    end: Key
    """The last key of the range; None if nothing comes after it."""


def range_after(session: OperatorSession, model: ReadModel, after: Key, upto: int) -> Range:
    """The next range: what the events up to a sequence demand in it, and what is there.

    To be read at one moment: in a snapshot, or under the write lock.
    """
    events, rows = _events(session, model, after, upto), session.rows(model, after, PAGE)
    ends = [_key(model, page[-1]) for page in (events, rows) if len(page) == PAGE]
    end = min(ends, key=order, default=None)
    if ends:
        for page in (events, rows):
            del page[bisect_right(page, order(end), key=lambda row: order(_key(model, row))) :]
    demanded: dict[Key, Row] = {}
    unreadable = []
    for event in events:
        if model is not WINNERS and event.position == 1 and event.tag in WINNING:
            continue  # it demands a row there, and none here
        try:
            row = model.demanded(decode_attempt(session.target, event.stored))
        except CorruptLedger as error:
            unreadable.append(error)
            continue
        if row is not None:
            demanded[row[0]] = row  # type: ignore[index]  # a key
    present: dict[Key, Row] = {row[0]: row for row in rows}  # type: ignore[misc]
    if after is None and (row := session.row(model, None)):
        present[None] = row  # an older program's table may hold what has no key
    return Range(demanded, present, differing(demanded, present), tuple(unreadable), end)


def read_range(database: Database, model: ReadModel, after: Key, upto: int) -> Range:
    """The next range, read in a short transaction of its own."""

    def look(session: OperatorSession) -> Range:
        with session.snapshot():
            return range_after(session, model, after, upto)

    return database.read(look)


def demanded_now(session: OperatorSession, model: ReadModel, key: Key) -> Row | None:
    """The row that the log demands under this key.

    :raises CorruptLedger: if the event that would demand it cannot be read.
    """
    if model is WINNERS:
        event = session.first_event_of(key)
    else:
        event = session.event(key) if isinstance(key, int) else None
    if event is None:
        return None
    return model.demanded(decode_attempt(session.target, event.stored))


def _events(session: OperatorSession, model: ReadModel, after: Key, upto: int) -> list[LogRow]:
    if model is WINNERS:
        return session.first_events(after, upto, PAGE)
    start = after + 1 if isinstance(after, int) else FIRST
    return session.log(start, upto, PAGE) if start <= upto else []


def _key(model: ReadModel, row: LogRow | Row) -> Key:
    if isinstance(row, LogRow):
        return row.stream if model is WINNERS else row.sequence
    return row[0]  # type: ignore[return-value]
