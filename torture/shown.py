"""Whether what ``history`` showed can be explained, as far as can be seen without the log."""

from __future__ import annotations

from math import inf

from .history import Attempt, Call, Entry, HistoryIs, Submission, Withdrawal
from .refusal import Refused, end


def check_histories(known: list[Call], possible: list[Call], before: list[Entry]) -> None:
    """See that each has what was acknowledged, nothing that nobody had asked for, and one order.

    :param known: the calls that were answered.
    :param possible: those that may have happened.
    """
    shown = [(call, call.told.entries) for call in known if isinstance(call.told, HistoryIs)]
    if not shown:
        return
    asked_for: dict[object, float] = {entry.submission: -inf for entry in before}
    for call in possible:
        asked_for[call.asked] = min(call.invoked, asked_for.get(call.asked, inf))
    acknowledged = _acknowledged(known, before)
    longest: dict[str, tuple[Call, tuple[Entry, ...]]] = {}
    for call, entries in shown:
        workspace = call.asked.workspace
        submissions = {entry.submission for entry in entries}
        if any(asked_for.get(submission, inf) > end(call) for submission in submissions):
            raise Refused("history tells of what nobody had asked for", call)
        for submission, (until, by) in acknowledged.items():
            ours = submission.workspace == workspace
            if ours and until < call.invoked and submission not in submissions:
                raise Refused("history lacks what was acknowledged", by, call)
        other, its_entries = longest.setdefault(workspace, (call, entries))
        if any(mine != theirs for mine, theirs in zip(entries, its_entries, strict=False)):
            raise Refused("two histories begin differently", other, call)
        if len(entries) > len(its_entries):
            longest[workspace] = call, entries


def _acknowledged(
    known: list[Call], before: list[Entry]
) -> dict[Submission, tuple[float, Call | None]]:
    """Of each submission, when it was on record at the latest, and who says so."""
    found: dict[Submission, tuple[float, Call | None]] = {
        entry.submission: (-inf, None) for entry in before
    }
    for call in known:
        for submission in _on_record(call):
            until, _ = found.get(submission, (inf, None))
            if end(call) < until:
                found[submission] = end(call), call
    return found


def _on_record(call: Call) -> list[Submission]:
    """What its answer says to be on record."""
    if isinstance(call.told, HistoryIs):
        return [entry.submission for entry in call.told.entries]
    return [call.asked] if isinstance(call.asked, Attempt | Withdrawal) else []
