"""What is asked of a ledger and what it answers: in its own words, and as it is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from resolution_ledger import (
    Closed,
    IdempotencyConflict,
    IdempotencyKey,
    InstanceId,
    Lost,
    OutsideWorkspace,
    RecordedAttempt,
    Replayed,
    ResolutionRecord,
    ResponseId,
    Withdrawn,
    Won,
)

from . import history
from .history import Asked, Told


def step(ledger: Any, instance: InstanceId, asked: Asked, by: str = "") -> Callable[[], Any]:
    """The call, on a ledger of either kind, under a label."""
    match asked:
        case history.Attempt(response=response, key=key):
            record = ResolutionRecord(instance, ResponseId.parse(response), IdempotencyKey(key), by)
            return lambda: ledger.resolve(record)
        case history.Withdrawal(reason=reason):
            return lambda: ledger.withdraw(instance, reason, by)
        case history.AskWinner():
            return lambda: ledger.winner(instance)
        case history.AskWait():
            return lambda: ledger.wait(instance, 0)
        case history.AskHistory():
            return lambda: ledger.history(instance)


def told(answer: object) -> Told:  # noqa: PLR0911 - one for each answer that there is
    """What the ledger answers to a submission, or raises."""
    match answer:
        case Won():
            return history.Won()
        case Lost(winner):
            return history.Lost(winner.text)
        case Replayed(winner, own):
            return history.Replayed(winner.text, own)
        case Withdrawn():
            return history.Withdrawn()
        case Closed(reason):
            return history.Closed(reason)
        case IdempotencyConflict():
            return history.Conflict(answer.existing.text)
        case OutsideWorkspace():
            return history.Outside()
    raise TypeError(f"no answer: {answer!r}")


def entry(recorded: RecordedAttempt) -> history.Entry:
    """What is on record."""
    return history.Entry(
        str(recorded.instance),
        recorded.position,
        recorded.sequence,
        recorded.outcome,
        submission(recorded),
        recorded.submitted_by,
    )


def submission(recorded: RecordedAttempt) -> history.Submission:
    """What was asked by which it came on record."""
    if recorded.response is None:
        return history.Withdrawal(recorded.workspace, str(recorded.reason))
    return history.Attempt(
        recorded.workspace, str(recorded.response), str(recorded.idempotency_key)
    )
