"""Verify: everything that can be wrong with a ledger, found without changing it.

The log is looked at in the order of commits (numbers, hash chain, stored bytes), then in the
order of streams (positions, and each event decided again), then the read models against it. All
of it goes up to the head that was there at the beginning: those events never change, so pages
can be read one by one while others write. A range of a read model does change meanwhile; it is
seen at one moment together with what the log demands of it by then.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from ..domain.errors import CorruptLedger, InvalidId
from ..domain.events import Attempt, Event, ResolutionAdopted, Withdrawal
from ..domain.ids import InstanceId
from ..projections.read_models import Key, ReadModel
from ..projections.report import Finding, Report
from ..projections.rules_audit import StreamAudit
from . import chain
from .checkpoint import LEDGER_ID, Checkpoint
from .codec import decode_event
from .database import Database, OperatorSession
from .fingerprints import fingerprint_of, fingerprints_for
from .ranges import read_range
from .rows import LogRow, SchemaPart
from .runs import LOG, OnFinding, OnProgress, Run, log_pages, stream_pages


def verify(
    database: Database,
    checkpoint: Checkpoint | None = None,
    on_progress: OnProgress | None = None,
    on_finding: OnFinding | None = None,
) -> Report:
    """All that is wrong with the ledger.

    :raises StoreError: if it cannot be read at all.
    """
    head, ledger_id, missing, models = database.read(_outline)
    run = Run(head, head * 3, on_progress, on_finding)
    for part in missing:
        run.lacks(part)
    gone = {part.name for part in missing if part.found is None}
    for table in (LOG, *(model.table for model in models)):
        if table not in gone:
            for fault in database.read(lambda session: session.storage_faults(table)):  # noqa: B023
                run.stored_wrongly(table, fault)
    if not LEDGER_ID.fullmatch(ledger_id):
        run.found(Finding("identity", None, None, "32 hexadecimal digits", ledger_id))
    if checkpoint is not None:
        _checkpoint(database, checkpoint, ledger_id, head, run)
    events = _log(database, chain.origin(ledger_id).hash, run)
    _rules(database, events, run)
    for model in models:
        if model.table not in gone:
            _read_model(database, model, run)
    run.advance(head * 3)
    return run.report()


def _outline(
    session: OperatorSession,
) -> tuple[int, str, list[SchemaPart], tuple[ReadModel, ...]]:
    models = session.read_models()
    return session.head_sequence(), session.ledger_id(), session.missing(), models


def _checkpoint(
    database: Database, checkpoint: Checkpoint, ledger_id: str, head: int, run: Run
) -> None:
    """Whether the log continues the one that the checkpoint was taken of."""
    if checkpoint.ledger_id != ledger_id:
        run.found(Finding("checkpoint", None, None, checkpoint.ledger_id, ledger_id))
    if checkpoint.length > head:
        expected, found = (f"{length} events" for length in (checkpoint.length, head))
        run.found(Finding("checkpoint", checkpoint.length, None, expected, found))
        return
    if checkpoint.length == 0:
        digest: object = chain.origin(ledger_id).hash
    else:
        event = database.read(lambda session: session.event(checkpoint.length))
        digest = None if event is None else event.hash
    if digest != checkpoint.hash:
        there = digest.hex() if isinstance(digest, bytes) else repr(digest)
        run.found(Finding("checkpoint", checkpoint.length, None, checkpoint.hash.hex(), there))


def _log(database: Database, previous: bytes, run: Run) -> int:
    """Sequences, hashes and bytes; how many events there are."""
    due, adopting, events = 1, True, 0
    for page in log_pages(database, run.length):
        events += len(page)
        for row in page:
            sequence = row.sequence
            if sequence != due:
                run.found(Finding("sequence", sequence, None, str(due), str(sequence)))
            due = sequence + 1
            if column := row.mistyped:
                found = f"{column} is {getattr(row, column)!r}"
                run.found(Finding("event", sequence, _shown(row.stream), None, found))
                if isinstance(row.hash, bytes):
                    previous = row.hash
                continue
            digest = chain.link(previous, *row.stored)
            if digest != row.hash:
                expected, found = digest.hex(), row.hash.hex()
                run.found(Finding("hash", sequence, row.stream, expected, found))
            previous = row.hash
            event = _event(database.target, row, run)
            if event is not None:
                adopting = _place(row, event, run, adopting=adopting)
        run.advance(len(page))
    return events


def _event(target: str, row: LogRow, run: Run) -> Event | None:
    try:
        event = decode_event(target, row.stored)
    except CorruptLedger as error:
        run.found(Finding("event", row.sequence, row.stream, None, error.reason))
        return None
    fingerprint = fingerprint_of(row.stream, event)
    if row.fingerprint != fingerprint:
        expected, found = str(fingerprint), str(row.fingerprint)
        run.found(Finding("fingerprint", row.sequence, row.stream, expected, found))
    return event


def _place(row: LogRow, event: Event, run: Run, *, adopting: bool) -> bool:
    """Whether the event may stand where it does; and whether the next one may be adopted."""
    if _instance(row.stream) is None:
        run.found(Finding("instance", row.sequence, row.stream, None, row.stream))
    adopted = isinstance(event, ResolutionAdopted)
    if adopted and not adopting:  # winners are adopted before anything else happens
        run.found(Finding("event", row.sequence, row.stream, None, event.tag))
    return adopting and adopted


def _rules(database: Database, events: int, run: Run) -> None:
    """Positions and decisions."""
    stream: object = None
    audit: StreamAudit | None = None
    for page in stream_pages(database, run.length):
        events -= len(page)
        if events < 0:  # an index that leads in a circle
            run.stored_wrongly(LOG, "its index leads to an event twice")
            return
        for row in page:
            if row.stream != stream or audit is None:
                stream = row.stream
                look_up = partial(_that_matter, database, row)
                audit = StreamAudit(_shown(stream), _instance(row.stream), look_up)
            event, position = None, None
            if not row.mistyped:  # else the log's own audit has found it
                position = row.position
                with suppress(CorruptLedger):  # it has found that, too
                    event = decode_event(database.target, row.stored)
            for finding in audit.event(row.sequence, position, event):
                run.found(finding)
        run.advance(len(page))


def _that_matter(
    database: Database, first: LogRow, cause: Attempt | Withdrawal, before: int
) -> list[Event]:
    """The events of a long stream that matter to what led to one of them, of those before it."""
    _, rows = database.read(
        lambda session: session.events_that_matter(
            first.stream, first.sequence, fingerprints_for(first.stream, cause)
        )
    )
    return [decode_event(database.target, row) for row in rows if row[2] < before]


def _read_model(database: Database, model: ReadModel, run: Run) -> None:
    after: Key = None
    while True:
        span = read_range(database, model, after)
        for key, expected, found in span.differences:
            run.differs(model, key, expected, found)
        run.advance(len(span.demanded))
        if span.leads_back:
            run.stored_wrongly(model.table, "its rows lead back")
        if span.end is None or span.leads_back:
            return
        after = span.end


def _instance(stream: object) -> InstanceId | None:
    try:
        return InstanceId(stream)  # type: ignore[arg-type]  # from a damaged log, anything
    except InvalidId:
        return None


def _shown(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
