"""Rebuild: read models mended range by range, while the ledger goes on being used.

The same comparison as in ``verify``; and where a range differs, a short write transaction makes
its rows what the log demands. Events that come after the beginning bring their own rows. So it
needs no second copy, can be killed and started again at any moment, and writes nothing where
nothing is wrong.
"""

from __future__ import annotations

from functools import partial

from ..projections.read_models import (
    READ_MODELS,
    Key,
    ReadModel,
    Row,
    difference_found,
    order,
)
from ..projections.report import Finding, Report
from .database import Database, OperatorSession
from .read_models import Range, demanded_now, range_after, read_range
from .runs import OnFinding, OnProgress, Run

Mended = tuple[Key, Row | None, Row | None]
"""A key, the row that is there now, and the one that was."""


def rebuild(
    database: Database,
    on_progress: OnProgress | None = None,
    on_finding: OnFinding | None = None,
) -> Report:
    """Make the read models, indexes and guards what they should be; report what was mended.

    :raises CorruptLedger: naming an event that cannot be read: nobody knows what it demands.
    """
    head, missing = database.read(lambda session: (session.head_sequence(), session.missing()))
    run = Run(head, head, on_progress, on_finding)
    if missing:
        database.write(lambda session: session.mend_schema())
        for name, expected, there in missing:
            run.found(Finding("guard", None, None, f"{name}: {' '.join(expected.split())}", there))
    for model in READ_MODELS:
        _rebuild(database, model, run)
    run.advance(head)
    return run.report()


def _rebuild(database: Database, model: ReadModel, run: Run) -> None:
    after: Key = None
    mending = False
    while True:
        mended: list[Mended] = []
        if mending:
            span, mended = database.write(partial(_mend, model, after, run.length))
        else:
            span = read_range(database, model, after, run.length)
        if span.unreadable:
            raise span.unreadable[0]
        if span.differing and not mending:
            mending = True  # once more, under the write lock; and so on until nothing is wrong
            continue
        for key, row, found in mended:
            if run.wants_findings:
                run.found(difference_found(model, key, row, found))
            else:
                run.count()
        run.advance(len(span.demanded))
        if span.end is None:
            return
        after, mending = span.end, bool(mended)


def _mend(
    model: ReadModel, after: Key, upto: int, session: OperatorSession
) -> tuple[Range, list[Mended]]:
    """Make the next range right; what is wrong with it, and what was mended."""
    span = range_after(session, model, after, upto)
    mended: list[Mended] = []
    rows: list[Row] = []
    if span.unreadable:
        return span, mended
    for key in sorted(span.differing, key=order):
        row, found = span.demanded.get(key), span.present.get(key)
        if row is None:
            # No event up to there demands it. A later one may.
            row = demanded_now(session, model, key)
            if row == found:
                continue
        if row is None:
            session.remove(model, key)
        else:
            rows.append(row)
        mended.append((key, row, found))
    session.put(model, rows)
    return span, mended
