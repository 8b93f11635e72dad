"""The store: decides attempts against the log, in whichever database it lives."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.decision import Answer, InstanceState, Refusal, decide, fold
from ..domain.errors import (
    CorruptLedger,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from ..domain.events import Attempt, AttemptEvent, Win, check_tick
from ..domain.ids import InstanceId, ResponseId
from ..domain.records import RecordedAttempt
from ..projections.losing_attempts import losing_attempt, losing_attempt_row
from ..projections.winners import winner_row
from .chain import Head
from .codec import decode_attempt, decode_event, encode_event, recorded_attempt
from .database import Database, Session, StoredRow
from .fingerprints import fingerprint_of, fingerprints_for


class EventStore:
    """Append-only record of every attempt, and the one place where they are decided."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def resolve(self, instance: InstanceId, attempt: Attempt) -> Answer | Refusal:
        """Decide the attempt and put it on record, both or neither."""

        def decide_and_record(session: Session) -> Answer | Refusal:
            head, last_position, state = self._look(session, instance, attempt)
            decision = decide(state, attempt)
            if decision.event is not None:
                # The clock is read under the write lock, so that on one machine the ticks of
                # an instance run in the order of its positions.
                event = decision.event(attempt, check_tick(self._clock()))
                self._append(session, head, instance, last_position + 1, event)
            return decision.answer

        try:
            return self._database.write(decide_and_record, timeout=0)
        except (StoreBusy, StoreUnavailable) as error:
            if error.outcome_unknown:
                raise
            # A retransmission does not wait for those who write, nor need a disk that can.
            answer = self._answer_on_record(instance, attempt)
            if answer is not None:
                return answer
            if isinstance(error, StoreUnavailable):
                raise
        return self._database.write(decide_and_record)

    def winner(self, workspace: str, instance: InstanceId) -> ResponseId | None:
        """The response that won the instance, if it won under this workspace."""
        first = self._database.read(lambda session: session.first_event(instance.text))
        if first is None:
            return None
        won = self._win(first).attempt
        return won.response if won.workspace == workspace else None

    def history(self, workspace: str, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
        """The workspace's own attempts on the instance, oldest first."""
        rows = self._database.read(lambda session: session.stream_events(instance.text))
        attempts = (decode_attempt(self._database.target, row) for row in rows)
        return tuple(attempt for attempt in attempts if attempt.workspace == workspace)

    def losers(self, workspace: str, limit: int) -> tuple[RecordedAttempt, ...]:
        """The workspace's newest losing attempts, replays left out, newest first."""
        rows = self._database.read(lambda session: session.losing_attempts(workspace, limit))
        try:
            return tuple(map(losing_attempt, rows))
        except ValueError as error:
            raise CorruptLedger(self._database.target, f"losing_attempts: {error}") from error

    def close(self) -> None:
        """Let calls in flight finish, then close every connection."""
        self._database.close()

    def _answer_on_record(self, instance: InstanceId, attempt: Attempt) -> Answer | Refusal | None:
        """The answer to a retransmission, found without a lock; None for what is new.

        Sound because what is on record never changes, and neither does its answer.
        """
        try:
            _, _, state = self._database.read(
                lambda session: self._look(session, instance, attempt), timeout=0
            )
        except StoreError:
            return None  # the write has said, or will say, what is wrong
        decision = decide(state, attempt)
        # A win is Won only in the call that records it, so never from here.
        return decision.answer if decision.event is None else None

    def _look(
        self, session: Session, instance: InstanceId, attempt: Attempt
    ) -> tuple[Head, int, InstanceState]:
        """The ends of the log and of the stream, and the instance's state as far as it matters.

        Deciding on these few events gives the same as deciding on the whole stream, at a cost
        that does not depend on its length.
        """
        stream = instance.text
        head, first = session.heads(stream)
        if first is None:
            return head, 0, InstanceState(instance)
        last_position, rows = session.events_that_matter(
            stream, first, fingerprints_for(stream, attempt)
        )
        state = fold(instance, [self._win(rows[0]), *map(self._event, rows[1:])])
        return head, last_position, state

    def _append(
        self,
        session: Session,
        head: Head,
        instance: InstanceId,
        position: int,
        event: AttemptEvent,
    ) -> None:
        """Add the event to the log and its rows to the read models."""
        stream = instance.text
        stored, fingerprint = encode_event(event), fingerprint_of(stream, event)
        head = session.append_event(head, (stream, position, event.tag, stored, fingerprint))
        recorded = recorded_attempt(instance, position, head.sequence, event)
        if winner := winner_row(recorded):
            session.add_winner(winner)
        if loser := losing_attempt_row(recorded):
            session.add_losing_attempt(loser)

    def _event(self, row: StoredRow) -> AttemptEvent:
        return decode_event(self._database.target, row)

    def _win(self, first: StoredRow) -> Win:
        event = self._event(first)
        if not isinstance(event, Win):
            # Position 1 is missing. Deciding again would name a second winner.
            reason = f"{first[1]} begins at position {first[2]!r}"
            raise CorruptLedger(self._database.target, reason, sequence=first[0])
        return event
