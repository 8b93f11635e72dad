"""Whether what is on record is what the rules say: every event, decided again."""

from __future__ import annotations

from collections.abc import Callable

from ..domain.decision import InstanceState, fold, redecide
from ..domain.errors import CorruptLedger
from ..domain.events import Attempt, Event, Withdrawal
from ..domain.ids import InstanceId
from .report import Finding

LONG = 10_000
"""Events of an instance that are held in memory. Beyond, those that matter are looked up."""

LookUp = Callable[[Attempt | Withdrawal, int], list[Event]]
"""The events of the instance that matter to what led to an event, of those before a position.

It raises ``CorruptLedger`` where they cannot be told.
"""


class StreamAudit:
    """One stream, event by event, in the order of positions."""

    def __init__(self, stream: str, instance: InstanceId | None, look_up: LookUp) -> None:
        """Without an instance, for a stream that is no id, only positions are looked at."""
        self._stream = stream
        self._look_up = look_up
        self._position = 0
        self._state = None if instance is None else InstanceState(instance)

    def event(self, sequence: int, position: int | None, event: Event | None) -> list[Finding]:
        """What is wrong with the next event; None for what of it cannot be read."""
        findings = []
        due = self._position + 1
        if position is None:
            position = due
        if position != due:
            findings.append(Finding("position", sequence, self._stream, str(due), str(position)))
        self._position = position
        if event is None:
            self._state = None  # what comes after it cannot be decided again
        if event is None or self._state is None:
            return findings
        long = len(self._state.on_record) >= LONG
        state = self._state
        if long:
            try:
                state = fold(state.instance, self._look_up(event.cause, position))
            except CorruptLedger:
                self._state = None
                return findings
        expected = redecide(state, event)
        if expected is not type(event):
            tag = None if expected is None else expected.tag
            findings.append(Finding("decision", sequence, self._stream, tag, event.tag))
        if not long:
            state.apply(event)
        return findings
