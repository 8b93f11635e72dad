"""The decision: which answer an attempt gets, and what goes on record.

For an instance, let W be the response of the event at position 1, and let the owner of a key
be the response that first used it in a won, replayed or lost event. An attempt of response r
under key k from workspace ws gives the first row that fits:

=  ======================================  ===========================  =====================
#  situation                               answer                       event
=  ======================================  ===========================  =====================
1  no event yet                            ``Won``                      ``ResolutionWon``
2  ws is not the winner's workspace        ``OutsideWorkspace``         ``AttemptFenced``
3  r is W                                  ``Replayed``                 ``AttemptReplayed``
4  k is owned by another response than r   ``IdempotencyConflict``      ``AttemptConflicted``
5  otherwise                               ``Lost``                     ``AttemptLost``
=  ======================================  ===========================  =====================

A ``ResolutionAdopted`` at position 1 counts as a ``ResolutionWon`` there.

The event is appended unless this very submission (ws, r, k) is on record for the instance:
a retransmission gets the same answer again (``Won`` becomes ``Replayed``) and leaves no trace.
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
    AttemptLost,
    AttemptReplayed,
    ResolutionAdopted,
    ResolutionWon,
    Submission,
    Win,
)
from .ids import InstanceId, ResponseId
from .outcomes import Lost, Replayed, Won
from .text import IdempotencyKey

Answer = Won | Lost | Replayed
Refusal = OutsideWorkspace | IdempotencyConflict


class InstanceState:
    """What the events of one instance, applied in the order of their positions, add up to."""

    __slots__ = ("instance", "key_owners", "on_record", "won")

    def __init__(self, instance: InstanceId) -> None:
        self.instance = instance
        self.won: Win | None = None
        self.key_owners: dict[IdempotencyKey, ResponseId] = {}
        self.on_record: set[Submission] = set()

    def apply(self, event: AttemptEvent) -> None:
        """Take in the next event."""
        attempt = event.attempt
        self.on_record.add(attempt.submission)
        match event:
            case ResolutionWon() | ResolutionAdopted():
                self.won = event
                self.key_owners[attempt.idempotency_key] = attempt.response
            case AttemptReplayed() | AttemptLost():
                self.key_owners.setdefault(attempt.idempotency_key, attempt.response)
            case AttemptFenced() | AttemptConflicted():
                pass  # these never own a key


def fold(instance: InstanceId, events: Iterable[AttemptEvent]) -> InstanceState:
    """The state after ``events``, given in the order of their positions."""
    state = InstanceState(instance)
    for event in events:
        state.apply(event)
    return state


class Decision(Struct, frozen=True):
    """What an attempt is told, and the event to append: None for a retransmission."""

    answer: Answer | Refusal
    event: type[AttemptEvent] | None


def decide(state: InstanceState, attempt: Attempt) -> Decision:
    """Apply the table above."""
    answer, event = _first_row_that_fits(state, attempt)
    return Decision(answer, None if attempt.submission in state.on_record else event)


def redecide(state: InstanceState, event: AttemptEvent) -> type[AttemptEvent] | None:
    """What the rules put on record for an event's attempt, given the events before it.

    None if it should not be on record, being a retransmission.
    """
    if state.won is None and isinstance(event, ResolutionAdopted):
        return ResolutionAdopted  # decided elsewhere, before the log began
    return decide(state, event.attempt).event


def _first_row_that_fits(
    state: InstanceState, attempt: Attempt
) -> tuple[Answer | Refusal, type[AttemptEvent]]:
    if state.won is None:
        return Won(), ResolutionWon

    first = state.won.attempt
    if attempt.workspace != first.workspace:
        return OutsideWorkspace(state.instance, attempt.workspace), AttemptFenced

    winner = first.response
    if attempt.response == winner:
        return Replayed(winner, own=attempt.submission == first.submission), AttemptReplayed

    key = attempt.idempotency_key
    owner = state.key_owners.get(key, attempt.response)
    if owner != attempt.response:
        return IdempotencyConflict(key, owner, attempt.response), AttemptConflicted

    return Lost(winner), AttemptLost
