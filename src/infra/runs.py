"""What long runs over a ledger have in common: pages, progress, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

from ..domain.errors import CorruptLedger
from ..projections.read_models import Key, ReadModel, Row, difference_found
from ..projections.report import Finding, Progress, Report
from .database import Database
from .rows import LogRow, SchemaPart

PAGE = 1000
"""Events that are read at once: no transaction lasts longer than such a page takes."""

LEAST, GREATEST = -(2**63), 2**63 - 1
"""Between these is every sequence, those in a damaged log included."""

LOG = "resolution_events"
"""The log's table."""

KEPT = 10_000
"""Findings that a report holds. The rest is counted, and passed on as it is found."""

OnProgress = Callable[[Progress], object]
OnFinding = Callable[[Finding], object]


class Run:
    """One pass or several over the log, up to the head that was there when it began."""

    def __init__(
        self,
        length: int,
        total: int,
        on_progress: OnProgress | None = None,
        on_finding: OnFinding | None = None,
    ) -> None:
        self.length = length
        self._total = total
        self._done = 0
        self._began = monotonic()
        self._on_progress = on_progress
        self._on_finding = on_finding
        self._findings: list[Finding] = []
        self._count = 0

    def advance(self, events: int) -> None:
        """So many more events have been looked at."""
        self._done = min(self._done + events, self._total)
        if self._on_progress is not None:
            self._on_progress(Progress(self._done, self._total, monotonic() - self._began))

    def differs(self, model: ReadModel, key: Key, expected: Row | None, found: Row | None) -> None:
        """A row of a read model is not what it should be."""
        if self._on_finding is None and len(self._findings) >= KEPT:
            self._count += 1  # nobody asks what it was
        else:
            self.found(difference_found(model, key, expected, found))

    def stored_wrongly(self, table: str, fault: str) -> None:
        """The database finds a table or its indexes damaged."""
        self.found(Finding("storage", None, None, f"{table}: ok", fault))

    def lacks(self, part: SchemaPart) -> None:
        """A part of the schema is missing, or another one."""
        expected = f"{part.name}: {part.expected}"
        self.found(Finding("guard", None, None, expected, part.found))

    def found(self, finding: Finding) -> None:
        """One more thing is wrong."""
        self._count += 1
        if len(self._findings) < KEPT:
            self._findings.append(finding)
        if self._on_finding is not None:
            self._on_finding(finding)

    def report(self) -> Report:
        """What the run came to."""
        return Report(self.length, tuple(self._findings), self._count)


def log_pages(
    database: Database, upto: int, *, start: int = LEAST, page: int = PAGE
) -> Iterator[list[LogRow]]:
    """The log by pages, in the order of commits, each read in a transaction of its own.

    In a damaged one, a page may lead back, and so around for ever: it is the last.
    """
    while start <= upto and (
        rows := database.read(lambda session: session.log(start, upto, page))  # noqa: B023
    ):
        yield rows
        last = rows[-1].sequence
        if last < start:
            return
        start = last + 1


def ordered_log_pages(
    database: Database, upto: int, *, start: int = LEAST, page: int = PAGE
) -> Iterator[list[LogRow]]:
    """As :func:`log_pages`, for those who go on to nothing that is out of order.

    :raises CorruptLedger: at the event that is.
    """
    for rows in log_pages(database, upto, start=start, page=page):
        check_order(database.target, rows, start)
        yield rows
        start = rows[-1].sequence + 1


def check_order(target: str, rows: list[LogRow], start: int) -> None:
    """See that a page of the log from here on is in order.

    :raises CorruptLedger: at the event that is not.
    """
    least = start
    for row in rows:
        if row.sequence < least:
            raise CorruptLedger(target, "it stands behind later ones", sequence=row.sequence)
        least = row.sequence + 1


def stream_pages(database: Database, upto: int, *, page: int = PAGE) -> Iterator[list[LogRow]]:
    """The events up to a sequence by pages, in the order of streams and positions."""
    after: int | None = None
    while rows := database.read(lambda session: session.streams(after, upto, page)):  # noqa: B023
        yield rows
        after = rows[-1].sequence
