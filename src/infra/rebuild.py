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
from .read_models import Range, demanded_now, ranges
from .runs import OnFinding, OnProgress, Run


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
        for span in ranges(database, model, head):
            if span.unreadable:
                raise span.unreadable[0]
            if span.differing:
                for key, row, found in database.write(partial(_mend, model, span)):
                    if run.wants_findings:
                        run.found(difference_found(model, key, row, found))
                    else:
                        run.count()
            run.advance(len(span.demanded))
    run.advance(head)
    return run.report()


def _mend(
    model: ReadModel, span: Range, session: OperatorSession
) -> list[tuple[Key, Row | None, Row | None]]:
    """Make the differing rows of a range right: key, what it is now, what it was."""
    mended, rows = [], []
    for key in sorted(span.differing, key=order):
        row, found = span.demanded.get(key), span.present.get(key)
        if row is None:
            # It was there without an event. By now it may have one.
            row, found = demanded_now(session, model, key), session.row(model, key)
            if row == found:
                continue
        if row is None:
            session.remove(model, key)
        else:
            rows.append(row)
        mended.append((key, row, found))
    session.put(model, rows)
    return mended
