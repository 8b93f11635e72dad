"""The log: what a decision depends on is read from it, and what was decided is added to it."""

from __future__ import annotations

from ..domain.decision import InstanceState, fold
from ..domain.errors import CorruptLedger
from ..domain.events import Attempt, Event, First, Withdrawal
from ..domain.ids import InstanceId
from ..projections.closed_instances import closed_instance_row
from ..projections.losing_attempts import losing_attempt_row
from ..projections.winners import winner_row
from .chain import Head
from .codec import decode_event, encode_event, recorded_of
from .database import Session
from .fingerprints import fingerprint_of, fingerprints_for
from .rows import StoredRow


def look(
    session: Session, instance: InstanceId, cause: Attempt | Withdrawal
) -> tuple[Head, int, InstanceState]:
    """The ends of the log and of the stream, and the instance's state as far as it matters.

    Deciding on these few events gives the same as deciding on the whole stream, at a cost that
    does not depend on its length.
    """
    stream = instance.text
    head, first = session.heads(stream)
    if first is None:
        return head, 0, InstanceState(instance)
    last_position, rows = session.events_that_matter(stream, first, fingerprints_for(stream, cause))
    target = session.target
    events = [first_event(target, rows[0]), *(decode_event(target, row) for row in rows[1:])]
    return head, last_position, fold(instance, events)


def append(session: Session, head: Head, instance: InstanceId, position: int, event: Event) -> Head:
    """Add the event to the log of this head, and its rows to the read models."""
    head = append_alone(session, head, instance, position, event)
    recorded = recorded_of(instance, position, head.sequence, event)
    if winner := winner_row(recorded):
        session.add_winner(winner)
    elif loser := losing_attempt_row(recorded):
        session.add_losing_attempt(loser)
    elif closed := closed_instance_row(recorded):
        session.add_closed_instance(closed)
    return head


def append_alone(
    session: Session, head: Head, instance: InstanceId, position: int, event: Event
) -> Head:
    """Add the event to the log; the read models have its rows already."""
    stream = instance.text
    stored, fingerprint = encode_event(event), fingerprint_of(stream, event)
    return session.append_event(head, (stream, position, event.tag, stored, fingerprint))


def first_event(target: str, row: StoredRow) -> First:
    """The event that a stream begins with.

    :raises CorruptLedger: if no stream can begin with it.
    """
    event = decode_event(target, row)
    if not isinstance(event, First):
        # Position 1 is missing. Deciding again would name a second winner.
        reason = f"{row[1]} begins at position {row[2]!r}"
        raise CorruptLedger(target, reason, sequence=row[0])
    return event
