"""Given what is on record, when this attempt or withdrawal comes, then ..."""

from __future__ import annotations

from collections.abc import Callable

from resolution_ledger import (
    Closed,
    IdempotencyConflict,
    Lost,
    OutsideWorkspace,
    Replayed,
    ResolutionError,
    Withdrawn,
    Won,
)
from resolution_ledger.domain.decision import InstanceState, decide
from resolution_ledger.domain.events import Attempt, Event, ResolutionWon, Win, Withdrawal
from samples import OTHER_WORKSPACE, attempt, instance, key, response

Told = Won | Lost | Replayed | Withdrawn | Closed | ResolutionError

WINNING = attempt(0, 0)
FENCED = OutsideWorkspace(instance(0), OTHER_WORKSPACE)


class Scenario:
    """``given(...).when(...).then(...)``."""

    def __init__(self, *before: Attempt | Withdrawal, win: type[Win] = ResolutionWon) -> None:
        self.state = InstanceState(instance(0))
        self._win = win
        for earlier in before:
            self.decide(earlier)

    def when(self, now: Attempt | Withdrawal) -> Scenario:
        """Let this attempt or withdrawal come."""
        self._now = now
        return self

    def then(self, answer: Told, event: type[Event] | None) -> None:
        """It gets this answer and this event, and no second event if it comes again."""
        assert self.decide(self._now) == (repr(answer), event)
        assert self.decide(self._now) == (repr(self._again(answer)), None)

    def then_answer(self, answer: Told) -> None:
        """It gets this answer, on record or not."""
        assert self.decide(self._now)[0] == repr(answer)

    def decide(self, now: Attempt | Withdrawal) -> tuple[str, type[Event] | None]:
        """What it is told and what goes on record, in a form that can be compared."""
        decision = decide(self.state, now)
        if decision.event is not None:
            event = self._win if decision.event is ResolutionWon else decision.event
            self.state.apply(event(now, 0))
        return repr(decision.answer), decision.event  # equal errors have equal texts only

    def _again(self, answer: Told) -> Told:
        if isinstance(self._now, Withdrawal):
            return Closed(self._now.reason) if answer == Withdrawn() else answer
        return Replayed(self._now.response, own=True) if answer == Won() else answer


Given = Callable[..., Scenario]
"""Makes one, after a win of a certain kind."""


def conflict(k: int, *, existing: int, presented: int) -> IdempotencyConflict:
    """The refusal of a key that belongs to another response."""
    return IdempotencyConflict(key(k), response(existing), response(presented))
