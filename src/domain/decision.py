"""The decision: which answer an attempt or a withdrawal gets, and what goes on record.

The first event of an instance decides it: a response has won (W, from a workspace), or a
withdrawal has closed it. Let the owner of a key be the response that first used it in a won,
replayed or lost event.

An attempt of response r under key k from workspace ws gives the first row that fits:

=  ======================================  ===========================  =====================
#  situation                               answer                       event
=  ======================================  ===========================  =====================
1  no event yet                            ``Won``                      ``ResolutionWon``
2  ws is not the first event's workspace   ``OutsideWorkspace``         ``AttemptFenced``
3  the instance is closed                  ``Closed``                   ``AttemptLate``
4  r is W                                  ``Replayed``                 ``AttemptReplayed``
5  k is owned by another response than r   ``IdempotencyConflict``      ``AttemptConflicted``
6  otherwise                               ``Lost``                     ``AttemptLost``
=  ======================================  ===========================  =====================

A ``ResolutionAdopted`` at position 1 counts as a ``ResolutionWon`` there. A withdrawal for a
reason from workspace ws:

=  ======================================  ===========================  =====================
#  situation                               answer                       event
=  ======================================  ===========================  =====================
1  no event yet                            ``Withdrawn``                ``InstanceClosed``
2  ws is not the first event's workspace   ``OutsideWorkspace``         ``WithdrawalFenced``
3  the instance is closed                  ``Closed``                   ``WithdrawalLate``
4  otherwise                               ``Lost``                     ``WithdrawalLost``
=  ======================================  ===========================  =====================

The event is appended unless this very submission, (ws, r, k) or (ws, reason), is on record for
the instance: a retransmission gets the same answer again (``Won`` becomes ``Replayed``, and
``Withdrawn`` becomes ``Closed``) and leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from .errors import IdempotencyConflict, OutsideWorkspace
from .events import (
    Attempt,
    AttemptConflicted,
    AttemptEvent,
    AttemptFenced,
    AttemptLate,
    AttemptLost,
    AttemptReplayed,
    Event,
    First,
    InstanceClosed,
    ResolutionAdopted,
    ResolutionWon,
    Submission,
    Withdrawal,
    WithdrawalEvent,
    WithdrawalFenced,
    WithdrawalLate,
    WithdrawalLost,
)
from .ids import InstanceId, ResponseId
from .outcomes import Closed, Lost, Replayed, Withdrawn, Won
from .text import IdempotencyKey

Answer = Won | Lost | Replayed | Closed
"""To an attempt."""
WithdrawalAnswer = Withdrawn | Closed | Lost
"""To a withdrawal."""
Refusal = OutsideWorkspace | IdempotencyConflict


class InstanceState:
    """What the events of one instance, applied in the order of their positions, add up to."""

    __slots__ = ("first", "instance", "key_owners", "on_record")

    def __init__(self, instance: InstanceId) -> None:
        self.instance = instance
        self.first: First | None = None
        self.key_owners: dict[IdempotencyKey, ResponseId] = {}
        self.on_record: set[Submission] = set()

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        self.on_record.add(event.cause.submission)
        match event:
            case ResolutionWon() | ResolutionAdopted():
                self.first = event
                self.key_owners[event.cause.idempotency_key] = event.cause.response
            case InstanceClosed():
                self.first = event
            case AttemptReplayed() | AttemptLost():
                self.key_owners.setdefault(event.cause.idempotency_key, event.cause.response)
            case _:
                pass  # nothing else owns a key: not what was refused or late, and no withdrawal


def fold(instance: InstanceId, events: Iterable[Event]) -> InstanceState:
    """The state after ``events``, given in the order of their positions."""
    state = InstanceState(instance)
    for event in events:
        state.apply(event)
    return state


class Decision(Struct, frozen=True):
    """What is told, and the event to append: None for a retransmission."""

    answer: Answer | WithdrawalAnswer | Refusal
    event: type[Event] | None


def decide(state: InstanceState, cause: Attempt | Withdrawal) -> Decision:
    """Apply the table of attempts, or that of withdrawals."""
    answer, event = (
        _attempt(state, cause) if isinstance(cause, Attempt) else _withdrawal(state, cause)
    )
    return Decision(answer, None if cause.submission in state.on_record else event)


def redecide(state: InstanceState, event: Event) -> type[Event] | None:
    """What the rules put on record for what led to an event, given the events before it.

    None if it should not be on record, being a retransmission.
    """
    if state.first is None and isinstance(event, ResolutionAdopted):
        return ResolutionAdopted  # decided elsewhere, before the log began
    return decide(state, event.cause).event


def _attempt(state: InstanceState, attempt: Attempt) -> tuple[Answer | Refusal, type[AttemptEvent]]:
    if state.first is None:
        return Won(), ResolutionWon

    first = state.first.cause
    if attempt.workspace != first.workspace:
        return OutsideWorkspace(state.instance, attempt.workspace), AttemptFenced

    if isinstance(first, Withdrawal):
        return Closed(first.reason), AttemptLate

    winner = first.response
    if attempt.response == winner:
        return Replayed(winner, own=attempt.submission == first.submission), AttemptReplayed

    key = attempt.idempotency_key
    owner = state.key_owners.get(key, attempt.response)
    if owner != attempt.response:
        return IdempotencyConflict(key, owner, attempt.response), AttemptConflicted

    return Lost(winner), AttemptLost


def _withdrawal(
    state: InstanceState, withdrawal: Withdrawal
) -> tuple[WithdrawalAnswer | OutsideWorkspace, type[WithdrawalEvent]]:
    if state.first is None:
        return Withdrawn(), InstanceClosed

    first = state.first.cause
    if withdrawal.workspace != first.workspace:
        return OutsideWorkspace(state.instance, withdrawal.workspace), WithdrawalFenced

    if isinstance(first, Withdrawal):
        return Closed(first.reason), WithdrawalLate

    return Lost(first.response), WithdrawalLost
