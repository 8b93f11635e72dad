"""Reading the log as the trail of attempts that it is."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain.ids import InstanceId
from ..domain.records import RecordedAttempt
from .codec import decode_attempt
from .database import Database
from .log import win
from .runs import LAST, PAGE, log_pages


def attempts(
    database: Database, after: int = 0, upto: int = LAST, page: int = PAGE
) -> Iterator[RecordedAttempt]:
    """The attempts on record, in the order of their commits.

    Read page by page, each in a transaction of its own: whoever stops half way through keeps
    nothing from being checkpointed. Without an end, it goes on to what is there by then.

    :raises CorruptLedger: at an event that cannot be read.
    """
    for rows in log_pages(database, upto, start=after + 1, page=page):
        for row in rows:
            yield decode_attempt(database.target, row.stored)


def history(database: Database, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
    """The attempts on one instance, oldest first."""
    rows = database.read(lambda session: session.stream(instance.text, LAST))
    return tuple(decode_attempt(database.target, row.stored) for row in rows)


def first_of(database: Database, instance: InstanceId) -> RecordedAttempt | None:
    """What resolved the instance; None if nothing did.

    :raises CorruptLedger: if its events begin with anything else.
    """
    rows = database.read(lambda session: session.stream(instance.text, 1))
    if not rows:
        return None
    win(database.target, rows[0].stored)
    return decode_attempt(database.target, rows[0].stored)
