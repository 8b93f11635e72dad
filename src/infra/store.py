"""The store: decides attempts against the log, in whichever database it lives."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.decision import Answer, Refusal, decide
from ..domain.errors import (
    CorruptLedger,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from ..domain.events import Attempt, check_tick
from ..domain.ids import InstanceId, ResponseId
from ..domain.records import RecordedAttempt
from ..projections.losing_attempts import losing_attempt
from .codec import decode_attempt
from .database import Database, Session
from .log import append, look, win


class EventStore:
    """Append-only record of every attempt, and the one place where they are decided."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def resolve(self, instance: InstanceId, attempt: Attempt) -> Answer | Refusal:
        """Decide the attempt and put it on record, both or neither."""

        def decide_and_record(session: Session) -> Answer | Refusal:
            head, last_position, state = look(session, instance, attempt)
            decision = decide(state, attempt)
            if decision.event is not None:
                # The clock is read under the write lock, so that on one machine the ticks of
                # an instance run in the order of its positions.
                event = decision.event(attempt, check_tick(self._clock()))
                append(session, head, instance, last_position + 1, event)
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
        won = win(self._database.target, first).attempt
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
                lambda session: look(session, instance, attempt), timeout=0
            )
        except StoreError:
            return None  # the write has said, or will say, what is wrong
        decision = decide(state, attempt)
        # A win is Won only in the call that records it, so never from here.
        return decision.answer if decision.event is None else None
