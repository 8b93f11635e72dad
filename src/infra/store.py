"""The store: decides attempts and withdrawals against the log, in whichever database it lives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import cast

from ..domain.decision import Answer, Decision, Refusal, WithdrawalAnswer, decide
from ..domain.errors import (
    CorruptLedger,
    InvalidId,
    NotALedger,
    OutsideWorkspace,
    StoreError,
    StoreUnavailable,
)
from ..domain.events import Attempt, Withdrawal, check_tick
from ..domain.ids import InstanceId, ResponseId
from ..domain.outcomes import Closed
from ..domain.records import RecordedAttempt
from ..projections.losing_attempts import losing_attempt
from . import news, trail
from .codec import decode_recorded
from .database import Database, Session
from .log import append, first_event, look

Settled = ResponseId | Closed | OutsideWorkspace
"""What has become of an instance, as far as a workspace may know."""


class EventStore:
    """Append-only record of everything that was tried, and the one place where it is decided."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self.database = database
        self._clock = clock

    def resolve(self, instance: InstanceId, attempt: Attempt) -> Answer | Refusal:
        """Decide the attempt and put it on record, both or neither."""
        return cast(Answer | Refusal, self._submit(instance, attempt))

    def withdraw(
        self, instance: InstanceId, withdrawal: Withdrawal
    ) -> WithdrawalAnswer | OutsideWorkspace:
        """Decide the withdrawal and put it on record, both or neither."""
        return cast(WithdrawalAnswer | OutsideWorkspace, self._submit(instance, withdrawal))

    def settled(self, workspace: str, instance: InstanceId) -> Settled | None:
        """What has become of the instance; None if nothing has yet."""
        row = self.database.read(lambda session: session.first_event(instance.text))
        if row is None:
            return None
        cause = first_event(self.database.target, row).cause
        if cause.workspace != workspace:
            return OutsideWorkspace(instance, workspace)
        return cause.response if isinstance(cause, Attempt) else Closed(cause.reason)

    def winner(self, workspace: str, instance: InstanceId) -> ResponseId | None:
        """The response that won the instance, if it won under this workspace."""
        # A winner stays one, and the guards let in no row but of what has won in the log. That
        # nobody has, only the log can tell: a rebuild may be about to make the row anew.
        response = self.database.winner(instance.text, workspace)
        if response is not None:
            try:
                return ResponseId(response)
            except InvalidId as error:
                reason = f"interaction_resolutions: {error}"
                raise CorruptLedger(self.database.target, reason) from error
        settled = self.settled(workspace, instance)
        return settled if isinstance(settled, ResponseId) else None

    def wait(self, workspace: str, instance: InstanceId, seconds: float | None) -> Settled | None:
        """What has become of the instance, as soon as anything has; None if not in time."""
        return news.wait_for(
            lambda: self.settled(workspace, instance),
            self.database,
            seconds=seconds,
            stream=instance.text,
        )

    def watch(self, workspace: str, after: int) -> Iterator[RecordedAttempt]:
        """What the workspace has on record past a sequence, and then whatever it adds; endless."""
        followed = trail.follow(self.database, after)
        return (attempt for attempt in followed if attempt.workspace == workspace)

    def next_page(self, workspace: str, after: int) -> tuple[int, list[RecordedAttempt]] | None:
        """The last sequence of the events that come next, and those of them of the workspace.

        None if there are none yet.

        :raises CorruptLedger: if the next one cannot be read, whosever it is.
        """
        page = trail.next_page(self.database, after)
        if page is None:
            return None
        return page[-1].sequence, [one for one in page if one.workspace == workspace]

    def history(self, workspace: str, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
        """What the workspace itself tried on the instance, oldest first."""
        rows = self.database.read(lambda session: session.stream_events(instance.text))
        attempts = (decode_recorded(self.database.target, row) for row in rows)
        return tuple(attempt for attempt in attempts if attempt.workspace == workspace)

    def losers(self, workspace: str, limit: int) -> tuple[RecordedAttempt, ...]:
        """The workspace's newest losing attempts, replays left out, newest first."""
        rows = self.database.read(lambda session: session.losing_attempts(workspace, limit))
        try:
            return tuple(map(losing_attempt, rows))
        except ValueError as error:
            raise CorruptLedger(self.database.target, f"losing_attempts: {error}") from error

    def create(self) -> None:
        """Make the ledger, if there is none, and bring one of an older version up to date."""
        with suppress(StoreUnavailable, NotALedger):  # there is none yet
            if self.database.read(lambda session: session.is_up_to_date()):
                return
        self.database.write(lambda _: None)

    def close(self) -> None:
        """Let calls in flight finish, then close every connection."""
        news.close(self.database)

    def _submit(
        self, instance: InstanceId, cause: Attempt | Withdrawal
    ) -> Answer | WithdrawalAnswer | Refusal:
        def decide_and_record(session: Session) -> Decision:
            head, last_position, state = look(session, instance, cause)
            decision = decide(state, cause)
            if decision.event is not None:
                # The clock is read under the write lock, so that on one machine the ticks of
                # an instance run in the order of its positions.
                event = decision.event(cause, check_tick(self._clock()))
                append(session, head, instance, last_position + 1, event)
            return decision

        def on_record() -> Decision | None:
            return self._on_record(instance, cause)

        # A retransmission does not wait for those who write,
        try:
            decision = self.database.submit(decide_and_record, on_record)
        except StoreUnavailable as error:
            # nor need a disk that can be written.
            found = None if error.outcome_unknown else on_record()
            if found is None:
                raise
            decision = found
        if decision.event is not None:
            news.announce(self.database, instance.text)
        return decision.answer

    def _on_record(self, instance: InstanceId, cause: Attempt | Withdrawal) -> Decision | None:
        """What was decided of a retransmission, found without a lock; None for what is new.

        Sound because what is on record never changes, and neither does its answer.
        """
        try:
            _, _, state = self.database.read(
                lambda session: look(session, instance, cause), timeout=0
            )
        except StoreError:
            return None  # the write has said, or will say, what is wrong
        decision = decide(state, cause)
        # A win is Won only in the call that records it, so never from here.
        return decision if decision.event is None else None
