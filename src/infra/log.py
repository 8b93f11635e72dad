"""The log: what an attempt depends on is read from it, and what was decided is added to it."""

from __future__ import annotations

from ..domain.decision import InstanceState, fold
from ..domain.errors import CorruptLedger
from ..domain.events import Attempt, AttemptEvent, Win
from ..domain.ids import InstanceId
from ..projections.losing_attempts import losing_attempt_row
from ..projections.winners import winner_row
from .chain import Head
from .codec import decode_event, encode_event, recorded_attempt
from .database import Session, StoredRow
from .fingerprints import fingerprint_of, fingerprints_for


def look(
    session: Session, instance: InstanceId, attempt: Attempt
) -> tuple[Head, int, InstanceState]:
    """The ends of the log and of the stream, and the instance's state as far as it matters.

    Deciding on these few events gives the same as deciding on the whole stream, at a cost that
    does not depend on its length.
    """
    stream = instance.text
    head, first = session.heads(stream)
    if first is None:
        return head, 0, InstanceState(instance)
    last_position, rows = session.events_that_matter(
        stream, first, fingerprints_for(stream, attempt)
    )
    target = session.target
    events = [win(target, rows[0]), *(decode_event(target, row) for row in rows[1:])]
    return head, last_position, fold(instance, events)


def append(
    session: Session, head: Head, instance: InstanceId, position: int, event: AttemptEvent
) -> Head:
    """Add the event to the log of this head, and its rows to the read models."""
    head = append_alone(session, head, instance, position, event)
    recorded = recorded_attempt(instance, position, head.sequence, event)
    if winner := winner_row(recorded):
        session.add_winner(winner)
    elif loser := losing_attempt_row(recorded):
        session.add_losing_attempt(loser)
    return head


def append_alone(
    session: Session, head: Head, instance: InstanceId, position: int, event: AttemptEvent
) -> Head:
    """Add the event to the log; the read models have its rows already."""
    stream = instance.text
    stored, fingerprint = encode_event(event), fingerprint_of(stream, event)
    return session.append_event(head, (stream, position, event.tag, stored, fingerprint))


def win(target: str, first: StoredRow) -> Win:
    """The event that a stream begins with.

    :raises CorruptLedger: if it is no win.
    """
    event = decode_event(target, first)
    if not isinstance(event, Win):
        # Position 1 is missing. Deciding again would name a second winner.
        reason = f"{first[1]} begins at position {first[2]!r}"
        raise CorruptLedger(target, reason, sequence=first[0])
    return event
