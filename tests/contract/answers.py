"""What an attempt or withdrawal came to and what is on record, as values that compare."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from resolution_ledger import (
    Closed,
    IdempotencyConflict,
    InstanceId,
    Lost,
    OutsideWorkspace,
    RecordedAttempt,
    Replayed,
    ResolutionLedger,
    ResolutionRecord,
    Withdrawn,
    Won,
)
from samples import instance

Answer = tuple[object, ...]


class Ending(Struct, frozen=True):
    """What ``withdraw`` is called with, as ``resolve`` is with a ``ResolutionRecord``."""

    instance: InstanceId
    reason: str
    submitted_by: str = ""


Sent = ResolutionRecord | Ending


def answer(ledger: ResolutionLedger, sent: Sent) -> Answer:
    """The answer to what is sent, refusals included, with all the facts that it carries."""
    try:
        if isinstance(sent, Ending):
            outcome = ledger.withdraw(sent.instance, sent.reason, sent.submitted_by)
        else:
            outcome = ledger.resolve(sent)
    except OutsideWorkspace as refusal:
        return "outside", refusal.instance, refusal.workspace
    except IdempotencyConflict as refusal:
        return "conflict", refusal.key, refusal.existing, refusal.presented
    return told(outcome)


def told(outcome: Won | Lost | Replayed | Withdrawn | Closed) -> Answer:
    """An answer that is no refusal."""
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
