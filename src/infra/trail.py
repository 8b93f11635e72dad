"""Reading the log as the trail of attempts that it is."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ..domain.errors import CorruptLedger, InvalidId
from ..domain.ids import InstanceId
from ..domain.records import WINNING, RecordedAttempt
from . import news
from .codec import decode_recorded, recorded_of
from .database import Database, OperatorSession
from .log import first_event
from .runs import GREATEST, PAGE, check_order, ordered_log_pages


class Contest(Struct, frozen=True):
    """An instance that got more than one answer, or one after it was closed."""

    first: RecordedAttempt
    """What won it, or closed it."""
    answers: int
    """How many different responses were given, the winning one included."""
    attempts: int
    """How many attempts gave another response than the winning one: all, where it was closed."""
    margin: int
    """Nanoseconds between the ticks of the first event and of the earliest of these."""


def attempts(
    database: Database, after: int = 0, upto: int = GREATEST, page: int = PAGE
) -> Iterator[RecordedAttempt]:
    """The attempts on record, in the order of their commits.

    Read page by page, each in a transaction of its own: whoever stops half way through keeps
    nothing from being checkpointed. Without an end, it goes on to what is there by then.

    :raises CorruptLedger: at an event that cannot be read.
    """
    for rows in ordered_log_pages(database, upto, start=after + 1, page=page):
        for row in rows:
            yield decode_recorded(database.target, row.stored)


def follow(database: Database, after: int = 0) -> Iterator[RecordedAttempt]:
    """As :func:`attempts`, and then whatever is committed, as it is committed; it never ends.

    :raises LedgerClosed: once the database is closed.
    """
    place = database.place()
    while page := news.wait_for(
        lambda: next_page(database, after),  # noqa: B023 - called before it changes
        database,
        seconds=None,
        place=place,
    ):
        yield from page
        after = page[-1].sequence


def next_page(database: Database, after: int) -> list[RecordedAttempt] | None:
    """The attempts that come next in the log; None if there are none yet.

    :raises CorruptLedger: if the next one cannot be read. A page ends before such a one.
    """
    if after == GREATEST:  # there can be none, but that the ledger is closed or gone is to be seen
        database.read(lambda session: session.head_sequence())
        return None
    rows = database.read(lambda session: session.log(after + 1, GREATEST, PAGE))
    check_order(database.target, rows, after + 1)
    page: list[RecordedAttempt] = []
    for row in rows:
        try:
            page.append(decode_recorded(database.target, row.stored))
        except CorruptLedger:
            if not page:
                raise
            break
    return page or None


def history(database: Database, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
    """The attempts on one instance, oldest first."""
    rows = database.read(lambda session: session.stream(instance.text, GREATEST))
    return tuple(decode_recorded(database.target, row.stored) for row in rows)


def resolution(database: Database, instance: InstanceId) -> RecordedAttempt | None:
    """What resolved or closed the instance; None if nothing did.

    :raises CorruptLedger: if its events begin with anything else.
    """
    return database.read(lambda session: _resolution(session, instance))


def _resolution(session: OperatorSession, instance: InstanceId) -> RecordedAttempt | None:
    rows = session.stream(instance.text, 1)
    if not rows:
        return None
    row = rows[0]
    event = first_event(session.target, row.stored)
    return recorded_of(instance, row.position, row.sequence, event)


def contested(database: Database, limit: int) -> tuple[Contest, ...]:
    """The instances that got the most different answers, most first.

    :raises CorruptLedger: if the read models name what is no instance, or has no event.
    """

    def look(session: OperatorSession) -> tuple[Contest, ...]:
        with session.snapshot():
            return tuple(_contest(session, *found) for found in session.contested(limit))

    return database.read(look)


def _contest(
    session: OperatorSession, stream: str, others: int, attempts: int, tick: int
) -> Contest:
    try:
        first = _resolution(session, InstanceId(stream))
    except InvalidId as error:
        raise CorruptLedger(session.target, f"losing_attempts: {error}") from error
    if first is None:
        raise CorruptLedger(session.target, f"losing_attempts: {stream!r} has no event")
    won = first.outcome in WINNING
    return Contest(first, others + won, attempts, tick - first.tick)
