"""``interaction_resolutions``: one row for each instance that was resolved.

Its columns are a public interface: other programs select from this table.
"""

from __future__ import annotations

from msgspec import Struct

from ..domain.records import WINNING, RecordedAttempt


class WinnerRow(Struct, frozen=True):
    """Who won an instance."""

    instance_id: str
    workspace_key: str
    response_id: str
    idempotency_key: str
    resolved_tick: int


def winner_row(attempt: RecordedAttempt) -> WinnerRow | None:
    """The row that the attempt adds to the table: one if it won, else none."""
    response, key = attempt.response, attempt.idempotency_key
    if attempt.outcome not in WINNING or response is None or key is None:  # None: of withdrawals
        return None
    return WinnerRow(
        instance_id=attempt.instance.text,
        workspace_key=attempt.workspace,
        response_id=response.text,
        idempotency_key=key.text,
        resolved_tick=attempt.tick,
    )
