"""Whether some order explains what was told of one instance, by trying all of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from resolution_ledger import IdempotencyKey, InstanceId, ResponseId
from resolution_ledger.domain import events
from resolution_ledger.domain.decision import InstanceState, decide
from torture.asking import told
from torture.history import (
    AskWait,
    AskWinner,
    Attempt,
    Call,
    Closed,
    Failed,
    Nothing,
    Outside,
    Told,
    Unknown,
    WinnerIs,
)


def some_order_explains(calls: Sequence[Call], instance: InstanceId) -> bool:
    """Whether there is one, consistent with real time, that gives each answer."""
    possible = [call for call in calls if not isinstance(call.told, Failed)]
    return _search(possible, InstanceState(instance))


def _search(left: list[Call], state: InstanceState) -> bool:
    """Whether the rest can follow upon this state."""
    if all(_unknown(call) for call in left):
        return True  # they have not happened
    ends = [call.completed for call in left if call.completed is not None and not _unknown(call)]
    for call in left:
        if any(end < call.invoked for end in ends):
            continue  # somebody else's end came before
        after = deepcopy(state)
        answer = answer_of(after, call)
        rest = [other for other in left if other is not call]
        if (_unknown(call) or answer == call.told) and _search(rest, after):
            return True
    return False


def _unknown(call: Call) -> bool:
    return call.told is None or isinstance(call.told, Unknown)


def answer_of(state: InstanceState, call: Call) -> Told:
    """What the rules say now; the state takes it in."""
    asked, first = call.asked, state.first
    if isinstance(asked, AskWait):
        if first is None:
            return Nothing()
        if first.cause.workspace != asked.workspace:
            return Outside()
        if isinstance(first.cause, events.Attempt):
            return WinnerIs(first.cause.response.text)
        return Closed(first.cause.reason)
    if isinstance(asked, AskWinner):
        ours = first is not None and first.cause.workspace == asked.workspace
        won = ours and isinstance(first.cause, events.Attempt)
        return WinnerIs(first.cause.response.text if won else None)
    cause = (
        events.Attempt(asked.workspace, ResponseId(asked.response), IdempotencyKey(asked.key), "")
        if isinstance(asked, Attempt)
        else events.Withdrawal(asked.workspace, asked.reason, "")
    )
    decision = decide(state, cause)
    if decision.event is not None:
        state.apply(decision.event(cause, 0))
    return told(decision.answer)
