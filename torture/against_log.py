"""Whether what clients were told can be explained by the log, which shows the order of their calls.

The log is the one order that counts. Its entries had their moments in the order of sequences, each
between the first invocation of a call with that submission and the first end of one that was
answered. A read that did not show an entry came before it, one that did came after it. So each
entry gets the earliest moment that what stands before it allows, and must have it in time: then all
calls of the ledger, on whatever instances, have happened in this order (strict serialisability).

Answers are those that the rules give along the log, which also says what each entry came to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf

from resolution_ledger.domain.decision import InstanceState
from resolution_ledger.domain.ids import InstanceId

from .checker import settled
from .history import (
    AskHistory,
    AskWait,
    AskWinner,
    Attempt,
    Call,
    Entry,
    HistoryIs,
    Nothing,
    WinnerIs,
    Withdrawal,
)
from .redeciding import Answers, redecide
from .refusal import Refusal, Refused, answered, end, may_have_happened


class _Moment:
    """Between which moments an entry was recorded, and who says so."""

    __slots__ = ("after", "earliest", "latest", "until")

    def __init__(self) -> None:
        self.earliest, self.after = -inf, None
        self.latest, self.until = inf, None

    earliest: float
    latest: float
    after: Call | None
    until: Call | None

    def not_before(self, call: Call) -> None:
        """It came after this call's invocation."""
        if call.invoked > self.earliest:
            self.earliest, self.after = call.invoked, call

    def not_after(self, call: Call) -> None:
        """It came before this call's end."""
        if end(call) < self.latest:
            self.latest, self.until = end(call), call


def contradictions(calls: Iterable[Call], log: Sequence[Entry], before: int = 0) -> list[Refusal]:
    """What the log and the calls say against each other, or the log against itself.

    :param log: every entry at the end, in the order of sequences.
    :param before: how many of them were there when the history began.
    """
    by_instance: dict[str, list[Call]] = defaultdict(list)
    entries: dict[str, list[Entry]] = defaultdict(list)
    for call in calls:
        by_instance[call.instance].append(call)
    for entry in log:
        entries[entry.instance].append(entry)
    found: list[Refusal] = []
    moments: dict[int, _Moment] = {}
    for instance in by_instance.keys() | entries.keys():
        try:
            moments |= _compare(instance, by_instance[instance], entries[instance], before)
        except Refused as refused:
            found.append(refused.of(instance))
    return found + _out_of_order(log, moments)


def _out_of_order(log: Sequence[Entry], moments: dict[int, _Moment]) -> list[Refusal]:
    """Entries that came before others which, as their calls say, were recorded earlier."""
    found = []
    earliest, after = -inf, None
    for sequence, entry in enumerate(log, start=1):
        if entry.sequence != sequence:
            found.append(
                Refusal(entry.instance, f"sequence {entry.sequence} instead of {sequence}")
            )
            break
        moment = moments.get(sequence)
        if moment is None:
            continue
        if moment.earliest > earliest:
            earliest, after = moment.earliest, moment.after
        if earliest > moment.latest:
            involved = Refused(f"event {sequence} came too late", after, moment.until)
            found.append(involved.of(entry.instance))
            break  # all that comes after it would be told of, too
    return found


def _compare(
    instance: str, calls: list[Call], entries: list[Entry], before: int
) -> dict[int, _Moment]:
    """The moments of what was recorded since the history began."""
    asked: dict[object, list[Call]] = defaultdict(list)
    for call in calls:
        asked[call.asked].append(call)
    state = InstanceState(InstanceId.parse(instance))
    moments: dict[int, _Moment] = {}
    for position, entry in enumerate(entries, start=1):
        if entry.position != position:
            raise Refused(f"position {entry.position} instead of {position}")
        answers = redecide(state, entry)
        own = asked[entry.submission]
        is_new = entry.sequence > before
        if is_new:
            moments[entry.sequence] = _moment(entry, own, answers)
        _check_answers(own, answers, first_time=is_new)
    recorded = {entry.submission for entry in entries}
    for call in calls:
        is_submission = isinstance(call.asked, Attempt | Withdrawal)
        if is_submission and answered(call) and call.asked not in recorded:
            raise Refused("what was acknowledged is not on record", call)
        if answered(call) and not is_submission:
            _place(call, entries, moments)
    return moments


def _moment(entry: Entry, calls: list[Call], answers: Answers) -> _Moment:
    possible = [call for call in calls if may_have_happened(call)]
    if not possible:
        raise Refused(f"event {entry.sequence} is what nobody asked for, or what failed", *calls)
    if entry.label is not None and all(entry.label != call.client for call in possible):
        raise Refused(f"event {entry.sequence} bears the label {entry.label!r}", *possible)
    moment = _Moment()
    first = [call for call in possible if call.told == answers.at_first != answers.again]
    moment.not_before(min(first or possible, key=lambda call: call.invoked))
    for call in possible:
        moment.not_after(call)
    return moment


def _check_answers(calls: list[Call], answers: Answers, *, first_time: bool) -> None:
    """See that at most one was told what only the first one is, and that all others fit."""
    told_first = []
    for call in calls:
        if not answered(call) or call.told == answers.again:
            continue
        if call.told != answers.at_first or not first_time:
            raise Refused("this is not what the log says", call)
        told_first.append(call)
    if len(told_first) > 1:
        raise Refused("more than one was told that it was the first", *told_first)


def _place(read: Call, entries: list[Entry], moments: dict[int, _Moment]) -> None:
    """See that what a read showed was so at some moment, and let the entries keep to that."""
    shown = _last_shown(read, entries)
    ours = [entry for entry in entries if entry.submission.workspace == read.asked.workspace]
    if isinstance(read.asked, AskWait):
        ours = entries[:1]
    if isinstance(read.asked, AskWinner):
        ours = [entry for entry in ours[:1] if entry.outcome in ("won", "adopted")]
    if shown:
        moment = moments.get(ours[shown - 1].sequence)
        if moment is not None:
            moment.not_after(read)
    if shown < len(ours):
        moment = moments.get(ours[shown].sequence)
        if moment is None:
            raise Refused("it does not show what was there before", read)
        moment.not_before(read)


def _last_shown(read: Call, entries: list[Entry]) -> int:
    """How many of those that a read can show it has shown."""
    workspace = read.asked.workspace
    if isinstance(read.told, HistoryIs) and isinstance(read.asked, AskHistory):
        ours = [entry for entry in entries if entry.submission.workspace == workspace]
        if tuple(ours[: len(read.told.entries)]) != read.told.entries:
            raise Refused("history showed something else than the log", read)
        return len(read.told.entries)
    if isinstance(read.asked, AskWait):
        if read.told == Nothing():
            return 0
        if not entries or read.told != settled(entries[0].submission, workspace):
            raise Refused("wait told of something else than the log", read)
        return 1
    if isinstance(read.told, WinnerIs) and isinstance(read.asked, AskWinner):
        if read.told.response is None:
            return 0
        first = entries[0] if entries else None
        if (
            first is None
            or not isinstance(first.submission, Attempt)
            or (first.submission.workspace, first.submission.response)
            != (workspace, read.told.response)
        ):
            raise Refused("winner told of another one than the log", read)
        return 1
    raise Refused("this is no answer to what was asked", read)
