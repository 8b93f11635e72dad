"""An event that somebody appends to a ledger, with the right hash, past the guards."""

from __future__ import annotations

import chains
from integration.tampering import Specimen, guards_dropped
from resolution_ledger import Finding
from resolution_ledger.domain.events import Event
from resolution_ledger.infra.codec import encode_event
from resolution_ledger.infra.fingerprints import fingerprint_of
from samples import instance

LENGTH = 33
"""Events of a ledger to which one is appended."""

NEXT = LENGTH + 1


def end_of(ledger: Specimen, stream: str) -> int:
    """The greatest position of a stream, 0 where there is none."""
    ((position,),) = ledger.connection.execute(
        "SELECT coalesce(max(originator_version), 0) FROM resolution_events"
        " WHERE originator_id = ?",
        (stream,),
    )
    return int(position)


def findings_after(  # noqa: PLR0913 (each is what one of the forgeries forges)
    ledger: Specimen,
    event: Event,
    *,
    stream: str = instance(0).text,
    gap: int = 0,
    tag: str | None = None,
    state: bytes | None = None,
    fingerprint: int | None = None,
) -> list[Finding]:
    """What is found of an event at the end of the log and of its stream, whose hash is right.

    And whose row is there, if it demands one.
    """
    with guards_dropped(ledger.connection):
        ledger.restore()
        ((head,),) = ledger.connection.execute(
            "SELECT hash FROM resolution_events WHERE sequence = ?", (NEXT - 1,)
        )
        row = (
            NEXT,
            stream,
            end_of(ledger, stream) + 1 + gap,
            tag or event.tag,
            encode_event(event) if state is None else state,
        )
        found = fingerprint_of(stream, event) if fingerprint is None else fingerprint
        ledger.connection.execute(
            "INSERT INTO resolution_events VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*row, found, chains.link(head, row)),
        )
    rows = {"winner", "losing attempt", "closed instance"}
    return [finding for finding in ledger.verify() if finding.kind not in rows]
