"""Rebuild: read models mended range by range, while the ledger goes on being used.

The same comparison as in ``verify``; and where a range differs, a short write transaction makes
its rows what the log demands. So it needs no second copy, can be killed and started again at
any moment, and writes nothing where nothing is wrong.
"""

from __future__ import annotations

from functools import partial
from time import monotonic, sleep

from ..domain.errors import CorruptLedger
from ..projections.read_models import Key, ReadModel
from ..projections.report import Report
from .database import Database, OperatorSession
from .ranges import Range, range_after, read_range
from .runs import LOG, OnFinding, OnProgress, Run


def rebuild(
    database: Database,
    on_progress: OnProgress | None = None,
    on_finding: OnFinding | None = None,
) -> Report:
    """Make the read models, indexes and guards what they should be; report what was mended.

    :raises CorruptLedger: naming an event that cannot be read: nobody knows what it demands.
    """
    head, missing, models = database.read(
        lambda session: (session.head_sequence(), session.missing(), session.read_models())
    )
    run = Run(head, head, on_progress, on_finding)
    if missing:
        database.write(lambda session: session.mend_schema())
        for part in missing:
            run.lacks(part)
    for table in (LOG, *(model.table for model in models)):
        _reindex(database, table, run)
    for model in models:
        _rebuild(database, model, run)
    run.advance(head)
    return run.report()


def _reindex(database: Database, table: str, run: Run) -> None:
    """Make indexes anew that do not hold what their table holds.

    First of all: an event that its index hides would seem to demand no row, and the row of a
    true winner would go.

    :raises CorruptLedger: if the log has lost events that its indexes still have. The read models
        may have their rows, too: all that was left of them would go, and nothing would show it.
    """
    faults = database.read(lambda session: session.storage_faults(table))
    if not faults:
        return

    def reindex(session: OperatorSession) -> None:
        if table == LOG and session.has_lost_rows(table):
            raise CorruptLedger(session.target, f"{table} has lost events that its indexes have")
        session.reindex(table)
        for fault in session.storage_faults(table):
            raise CorruptLedger(session.target, f"{table}: {fault}")

    database.write(reindex)
    for fault in faults:
        run.stored_wrongly(table, fault)


def _rebuild(database: Database, model: ReadModel, run: Run) -> None:
    after: Key = None
    mending, head = False, 0
    while True:
        if mending:
            span, began = database.write(partial(_mend, model, after))
            if head not in {0, span.head}:
                sleep(monotonic() - began)  # others write, too: give them as long a time
            head = span.head
        else:
            span = read_range(database, model, after)
        if span.unreadable:
            raise next(iter(span.unreadable.values()))
        if span.leads_back:
            raise CorruptLedger(database.target, f"rows of {model.table} lead back")
        if span.differing and not mending:
            mending = True  # once more, under the write lock; and so on until nothing is wrong
            continue
        for key, expected, found in span.differences:
            run.differs(model, key, expected, found)
        run.advance(len(span.demanded))
        if span.end is None:
            return
        after, mending = span.end, bool(span.differing)


def _mend(model: ReadModel, after: Key, session: OperatorSession) -> tuple[Range, float]:
    """Make the next range right; what it was, and when the lock was had."""
    began = monotonic()
    span = range_after(session, model, after)
    if not span.unreadable and not span.leads_back:
        for key in span.differing - span.demanded.keys():
            session.remove(model, key)
        session.put(model, [row for key, row in span.demanded.items() if key in span.differing])
    return span, began
