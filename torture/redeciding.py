"""What the rules say to an entry of the log, given those before it."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from msgspec import Struct

from resolution_ledger.domain import events
from resolution_ledger.domain.decision import InstanceState, decide
from resolution_ledger.domain.ids import ResponseId
from resolution_ledger.domain.records import Reason
from resolution_ledger.domain.text import IdempotencyKey

from . import history
from .asking import told
from .history import Entry, Submission, Told
from .refusal import Refused

_ADOPTED = events.ResolutionAdopted


class Answers(Struct, frozen=True):
    """What a submission is told: when it is recorded, and ever after."""

    at_first: Told
    again: Told


def redecide(state: InstanceState, entry: Entry) -> Answers:
    """What its submission is told. The state takes it in.

    :raises Refused: if the rules give it another outcome, or none.
    """
    cause = _cause(entry.submission)
    if entry.outcome == _ADOPTED.tag and state.first is None and isinstance(cause, events.Attempt):
        state.apply(_ADOPTED(cause, 0))
        again = told(decide(state, cause).answer)
        return Answers(again, again)
    decision = decide(state, cause)
    if decision.event is None or decision.event.tag != entry.outcome:
        right = "nothing" if decision.event is None else decision.event.tag
        raise Refused(f"event {entry.sequence} is {entry.outcome}, and by the rules {right}")
    state.apply(decision.event(cause, 0))
    return Answers(told(decision.answer), told(decide(state, cause).answer))


def _cause(submission: Submission) -> events.Attempt | events.Withdrawal:
    if isinstance(submission, history.Withdrawal):
        return events.Withdrawal(submission.workspace, cast(Reason, submission.reason), "")
    return events.Attempt(
        submission.workspace, _response(submission.response), IdempotencyKey(submission.key), ""
    )


_response = lru_cache(ResponseId.parse)
