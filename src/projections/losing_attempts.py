"""``losing_attempts``: one row for each attempt that did not win, replays included.

Withdrawals that came to nothing are no answers: they stand in the log alone.
"""

from __future__ import annotations

from msgspec import Struct

from ..domain.ids import InstanceId, ResponseId
from ..domain.records import LOSING, Outcome, RecordedAttempt
from ..domain.text import IdempotencyKey, check_text


class LosingAttemptRow(Struct, frozen=True):
    """An attempt that was recorded after its instance was resolved or closed."""

    sequence: int
    instance_id: str
    position: int
    outcome: Outcome
    workspace_key: str
    response_id: str
    idempotency_key: str
    submitted_by: str
    attempted_tick: int


def losing_attempt_row(attempt: RecordedAttempt) -> LosingAttemptRow | None:
    """The row that the attempt adds to the table: one if it lost, else none."""
    response, key = attempt.response, attempt.idempotency_key
    if attempt.outcome not in LOSING or response is None or key is None:  # None: of withdrawals
        return None
    return LosingAttemptRow(
        sequence=attempt.sequence,
        instance_id=attempt.instance.text,
        position=attempt.position,
        outcome=attempt.outcome,
        workspace_key=attempt.workspace,
        response_id=response.text,
        idempotency_key=key.text,
        submitted_by=attempt.submitted_by,
        attempted_tick=attempt.tick,
    )


def losing_attempt(row: LosingAttemptRow) -> RecordedAttempt:
    """The attempt that the row is of.

    :raises ValueError: (as ``InvalidId`` or ``InvalidText``) if it is of none.
    """
    return RecordedAttempt(
        InstanceId(row.instance_id),
        row.position,
        row.sequence,
        row.outcome,
        ResponseId(row.response_id),
        IdempotencyKey(row.idempotency_key),
        check_text("submitted_by", row.submitted_by, may_be_empty=True),
        check_text("workspace", row.workspace_key),
        row.attempted_tick,
    )
