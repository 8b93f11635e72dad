"""Read models against the log: what the log demands of a range, and what is there.

A range ends where a page of either ends, so memory is bounded whatever is in the tables.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from ..domain.errors import CorruptLedger
from ..domain.events import EVENT_TYPES
from ..projections.read_models import WINNERS, Key, ReadModel, Row, differing, order
from .codec import decode_attempt
from .database import Database, LogRow, OperatorSession
from .runs import PAGE, START


class Range(Struct, frozen=True):
    """The rows of a read model with keys past the last range's, up to the end of this one."""

    events: int
    """How many events were looked at for it."""
    demanded: dict[Key, Row]
    present: dict[Key, Row]
    differing: set[Key]
    unreadable: tuple[CorruptLedger, ...]
    """Of events that cannot be read: what they demand, nobody knows."""


def ranges(database: Database, model: ReadModel, upto: int) -> Iterator[Range]:
    """All rows of the read model, and all that the events up to a sequence demand."""
    after: Key = None
    while True:

        def look(session: OperatorSession) -> tuple[list[LogRow], list[Row]]:
            with session.snapshot():
                return _events(session, model, after, upto), session.rows(model, after, PAGE)  # noqa: B023

        events, rows = database.read(look)
        ends = [_key(model, page[-1]) for page in (events, rows) if len(page) == PAGE]
        end = min(ends, key=order, default=None)
        if ends:
            for page in (events, rows):
                del page[bisect_right(page, order(end), key=lambda row: order(_key(model, row))) :]
        yield _range(database.target, model, events, rows)
        if not ends:
            return
        after = end


def _range(target: str, model: ReadModel, events: list[LogRow], rows: list[Row]) -> Range:
    demanded: dict[Key, Row] = {}
    unreadable = []
    for event in events:
        if event.tag in EVENT_TYPES and event.tag not in model.outcomes:
            continue
        try:
            row = model.demanded(decode_attempt(target, event.stored))
        except CorruptLedger as error:
            unreadable.append(error)
            continue
        if row is not None:
            demanded[row[0]] = row  # type: ignore[index]  # a key
    present: dict[Key, Row] = {row[0]: row for row in rows}  # type: ignore[misc]
    return Range(len(events), demanded, present, differing(demanded, present), tuple(unreadable))


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
    return session.log(after if isinstance(after, int) else START, upto, PAGE)


def _key(model: ReadModel, row: LogRow | Row) -> Key:
    if isinstance(row, LogRow):
        return row.stream if model is WINNERS else row.sequence
    return row[0]  # type: ignore[return-value]
