"""``closed_instances``: one row for each instance that was closed before anybody answered it."""

from __future__ import annotations

from msgspec import Struct

from ..domain.records import Reason, RecordedAttempt


class ClosedInstanceRow(Struct, frozen=True):
    """Who closed an instance, and why."""

    instance_id: str
    workspace_key: str
    reason: Reason
    submitted_by: str
    closed_tick: int


def closed_instance_row(attempt: RecordedAttempt) -> ClosedInstanceRow | None:
    """The row that a withdrawal adds to the table: one if it closed the instance, else none."""
    if attempt.outcome != "closed" or attempt.reason is None:
        return None
    return ClosedInstanceRow(
        instance_id=attempt.instance.text,
        workspace_key=attempt.workspace,
        reason=attempt.reason,
        submitted_by=attempt.submitted_by,
        closed_tick=attempt.tick,
    )
