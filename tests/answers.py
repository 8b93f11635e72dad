"""What an attempt or withdrawal came to and what is on record, as values that compare."""

from __future__ import annotations

from collections.abc import Iterable

from resolution_ledger import (
    Closed,
    IdempotencyConflict,
    Lost,
    OutsideWorkspace,
    RecordedAttempt,
    Replayed,
    ResolutionLedger,
    Withdrawn,
    Won,
)
from samples import instance
from submissions import Outcome, Submission, submit

Answer = tuple[object, ...]


def answer(ledger: ResolutionLedger, submission: Submission) -> Answer:
    """The answer to it, refusals included, with all the facts that it carries."""
    try:
        outcome = submit(ledger, submission)
    except OutsideWorkspace as refusal:
        return "outside", refusal.instance, refusal.workspace
    except IdempotencyConflict as refusal:
        return "conflict", refusal.key, refusal.existing, refusal.presented
    return _facts(outcome)


def _facts(outcome: Outcome) -> Answer:
    match outcome:
        case Won():
            return ("won",)
        case Lost(winner=winner):
            return "lost", winner
        case Replayed(winner=winner, own=own):
            return "replayed", winner, own
        case Withdrawn():
            return ("withdrawn",)
        case Closed(reason=reason):
            return "closed", reason


def outcomes(history: Iterable[RecordedAttempt]) -> list[str]:
    """The outcomes alone."""
    return [attempt.outcome for attempt in history]


def everything(
    ledgers: Iterable[ResolutionLedger], instances: Iterable[int] = range(10)
) -> list[RecordedAttempt]:
    """All that the ledgers' workspaces have on record about the instances, in commit order."""
    numbers = list(instances)
    attempts = [a for ledger in ledgers for n in numbers for a in ledger.history(instance(n))]
    return sorted(attempts, key=lambda attempt: attempt.sequence)
