"""``losing_attempts``: one row for each attempt that did not win, replays included."""

from __future__ import annotations

from msgspec import Struct

from ..domain.records import Outcome, RecordedAttempt


class LosingAttemptRow(Struct, frozen=True):
    """An attempt that was recorded after its instance was resolved."""

    instance_id: str
    position: int
    sequence: int
    outcome: Outcome
    workspace_key: str
    response_id: str
    idempotency_key: str
    submitted_by: str
    attempted_tick: int


def losing_attempt_row(attempt: RecordedAttempt) -> LosingAttemptRow | None:
    """The row that the attempt adds to the table: none if it won, else one."""
    if attempt.outcome == "won":
        return None
    return LosingAttemptRow(
        instance_id=attempt.instance.text,
        position=attempt.position,
        sequence=attempt.sequence,
        outcome=attempt.outcome,
        workspace_key=attempt.workspace,
        response_id=attempt.response.text,
        idempotency_key=attempt.idempotency_key.text,
        submitted_by=attempt.submitted_by,
        attempted_tick=attempt.tick,
    )
