"""What is on record of an event besides what ``history`` tells, and a win decided elsewhere."""

from __future__ import annotations

import chains
from inside import database_of
from resolution_ledger import ResolutionLedger, ResolutionRecord
from resolution_ledger.domain.events import Attempt, ResolutionAdopted
from resolution_ledger.infra.codec import encode_event
from resolution_ledger.infra.fingerprints import fingerprint_of


def unbroken(ledger: ResolutionLedger) -> int:
    """How many events, from the first on, have the hashes that they must have."""
    return database_of(ledger).read(lambda session: chains.unbroken(session.connection))


def hashes(ledger: ResolutionLedger) -> list[bytes]:
    """The hashes of all events on record, in the order of the log."""
    return database_of(ledger).read(lambda session: chains.hashes_on_record(session.connection))


def adopt(ledger: ResolutionLedger, win: ResolutionRecord, tick: int) -> None:
    """Put a win on record that was decided elsewhere, before the log began."""
    attempt = Attempt(ledger.workspace, win.response, win.idempotency_key, win.submitted_by)
    event, stream = ResolutionAdopted(attempt, tick), win.instance.text
    row = (stream, 1, event.tag, encode_event(event), fingerprint_of(stream, event))
    database_of(ledger).write(lambda session: session.append_event(session.head(), row))
