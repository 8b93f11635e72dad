"""Whether what clients were told can be explained: by some order of their calls, under the rules.

An order explains a history if each call that was answered has a moment between its invocation and
its end, each that nobody knows of has some moment after its invocation or none, each that failed
has none, and in the order of these moments the tables of ``domain/decision.py`` give every answer
that was observed.

No orders are searched, since a decision never reverts. What an instance tells of is one moment,
that of its first event: before it nobody is told of it, after it everybody is told the same. It
must come after the first call's invocation and after that of each read that saw nothing, and before
the ends of the first call and of all that were told of it. If the latest of the former is no later
than the earliest of the latter, then the latest of the former will do: everybody else can be moved
to the right side of it within the own interval. That leaves each of those who were told of it some
moment after it, so the keys can be looked at one by one (see :mod:`.keys`).

Where the first call itself was not answered, each submission that may have been it is tried, at its
earliest invocation: whoever was invoked earlier can do all that a later one can.

What ``history`` showed is looked at in part (see :mod:`.shown`); :mod:`.against_log` asks the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import inf

from msgspec import Struct

from .history import (
    AskHistory,
    AskWait,
    AskWinner,
    Attempt,
    Call,
    Closed,
    Conflict,
    Entry,
    HistoryIs,
    Lost,
    Nothing,
    Outside,
    Replayed,
    Submission,
    Told,
    WinnerIs,
    Withdrawal,
    Withdrawn,
    Won,
)
from .keys import check_keys
from .refusal import Refusal, Refused, answered, end, may_have_happened, of_unknown_fate
from .shown import check_histories

_NOTHING = (WinnerIs(None), HistoryIs(()), Nothing())
"""What a read shows before anything is decided."""

_ASKED = {
    Won: Attempt,
    Lost: Attempt | Withdrawal,
    Replayed: Attempt,
    Withdrawn: Withdrawal,
    Closed: Attempt | Withdrawal | AskWait,
    Conflict: Attempt,
    Outside: Attempt | Withdrawal | AskWait,
    WinnerIs: AskWinner | AskWait,
    Nothing: AskWait,
    HistoryIs: AskHistory,
}
"""What each is an answer to."""


class _First(Struct, frozen=True):
    """What may have decided the instance, and between which moments."""

    submission: Submission
    earliest: float
    latest: float
    call: Call | None


def refusals(calls: Iterable[Call], before: Iterable[Entry] = ()) -> list[Refusal]:
    """The instances whose histories no order explains.

    :param before: what was on record when the history began.
    """
    by_instance: dict[str, list[Call]] = defaultdict(list)
    recorded: dict[str, list[Entry]] = defaultdict(list)
    for call in calls:
        by_instance[call.instance].append(call)
    for entry in before:
        recorded[entry.instance].append(entry)
    found = []
    for instance, its_calls in by_instance.items():
        try:
            _explain(its_calls, recorded[instance])
        except Refused as refused:
            found.append(refused.of(instance))
    return found


def _explain(calls: list[Call], before: list[Entry]) -> None:
    possible = [call for call in calls if may_have_happened(call)]
    known = [call for call in calls if answered(call)]
    for call in known:
        no_answer = isinstance(call.asked, AskWait) and call.told == WinnerIs(None)
        if no_answer or not isinstance(call.asked, _ASKED[type(call.told)]):
            raise Refused("this is no answer to what was asked", call)
    check_histories(known, possible, before)
    firsts = _firsts(possible, known, before)
    refused: list[Refused] = []
    for first in firsts:
        try:
            _check(first, possible, known, before)
            return
        except Refused as error:
            refused.append(error)
    told = [call for call in known if call.told not in _NOTHING]
    if len(refused) == 1:
        raise refused[0]
    if told:
        raise Refused("nothing that was asked for explains what they were told", *told)


def _firsts(possible: list[Call], known: list[Call], before: list[Entry]) -> list[_First]:
    """What may have decided it."""
    if before:
        return [_First(before[0].submission, -inf, -inf, None)]
    told_so = [call for call in known if isinstance(call.told, Won | Withdrawn)]
    if len(told_so) > 1:
        raise Refused("two calls were told that they had decided it", *told_so)
    candidates: dict[Submission, _First] = {}
    for call in told_so or filter(of_unknown_fate, possible):
        if isinstance(call.asked, Attempt | Withdrawal):
            found = candidates.get(call.asked)
            if found is None or call.invoked < found.earliest:
                candidates[call.asked] = _First(call.asked, call.invoked, end(call), call)
    return list(candidates.values())


def _check(first: _First, possible: list[Call], known: list[Call], before: list[Entry]) -> None:
    """See that it explains all answers."""
    for call in known:
        if call is not first.call and not _fits(call, first.submission):
            raise Refused("this answer contradicts what decided it", first.call, call)
    earliest, after = first.earliest, first.call
    latest, until = first.latest, first.call
    for call in known:
        if call.told not in _NOTHING:
            if end(call) < latest:
                latest, until = end(call), call
        elif _would_show(call, first.submission) and call.invoked > earliest:
            earliest, after = call.invoked, call
    if earliest > latest:
        raise Refused("it was told of before it can have been decided", after, until)
    if isinstance(first.submission, Attempt):
        check_keys(first.submission, possible, known, before)


def _would_show(call: Call, first: Submission) -> bool:
    """Whether a read shows what has decided the instance, once something has."""
    if isinstance(call.asked, AskWait):
        return True
    ours = call.asked.workspace == first.workspace
    return ours and (isinstance(call.asked, AskHistory) or isinstance(first, Attempt))


def _fits(call: Call, first: Submission) -> bool:
    """Whether its answer can be given once ``first`` has decided; or before, if it saw nothing."""
    asked = call.asked
    match asked:
        case AskHistory():
            # It is at position 1, and nothing else is. The rest is looked at elsewhere.
            return isinstance(call.told, HistoryIs) and all(
                (entry.position == 1) == (entry.submission == first) for entry in call.told.entries
            )
        case AskWinner():
            return call.told == WinnerIs(None) or (
                isinstance(first, Attempt)
                and asked.workspace == first.workspace
                and call.told == WinnerIs(first.response)
            )
        case AskWait():
            return call.told in (Nothing(), settled(first, asked.workspace))
        case Attempt() | Withdrawal():
            return _is_right(asked, call, first)


def settled(first: Submission, workspace: str) -> Told:
    """What ``wait`` tells a workspace of an instance that this has decided."""
    if workspace != first.workspace:
        return Outside()
    return WinnerIs(first.response) if isinstance(first, Attempt) else Closed(first.reason)


def _is_right(asked: Submission, call: Call, first: Submission) -> bool:
    """Whether its answer, which is not the first one, follows from the first one."""
    if asked.workspace != first.workspace:
        return call.told == Outside()
    if isinstance(first, Withdrawal):
        return call.told == Closed(first.reason)
    if isinstance(asked, Attempt) and asked.response == first.response:
        return call.told == Replayed(first.response, own=asked == first)
    if isinstance(asked, Attempt) and isinstance(call.told, Conflict):
        return True  # whose key it is, is looked at elsewhere
    return call.told == Lost(first.response)
