"""The events of an instance: what is on record once an attempt was decided."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from .errors import InvalidTick
from .ids import ResponseId
from .records import Outcome
from .text import IdempotencyKey

_LEAST_TICK, _GREATEST_TICK = -(2**63), 2**63 - 1


def check_tick(value: object) -> int:
    """Return ``value`` if it can be a tick: a signed 64-bit integer.

    :raises InvalidTick: if not.
    """
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or not _LEAST_TICK <= value <= _GREATEST_TICK
    ):
        raise InvalidTick(value)
    return int.__index__(value)


Submission = tuple[str, ResponseId, IdempotencyKey]
"""Workspace, response, key: two attempts that agree in these are one, sent twice."""


class Attempt(Struct, frozen=True):
    """A response to an instance under a key, from a workspace."""

    workspace: str
    response: ResponseId
    idempotency_key: IdempotencyKey
    submitted_by: str

    @property
    def submission(self) -> Submission:
        """What makes two attempts the same one, sent twice. The label is no part of it."""
        return self.workspace, self.response, self.idempotency_key


class AttemptEvent(Struct, frozen=True):
    """An attempt, and what it came to: each outcome is a class of its own."""

    # The tag is what the log stores. It names the event for good: rename the class, never it.
    tag: ClassVar[Outcome]

    attempt: Attempt
    tick: int
    """Nanoseconds since 1970 by the writer's clock. For display; it orders nothing."""


class ResolutionWon(AttemptEvent, frozen=True):
    """The first event of its instance: this response is the answer."""

    tag: ClassVar[Outcome] = "won"


class ResolutionAdopted(AttemptEvent, frozen=True):
    """A win that this ledger did not witness: taken over from a table that decided before it."""

    tag: ClassVar[Outcome] = "adopted"


Win = ResolutionWon | ResolutionAdopted
"""What resolves an instance: its first event, and no other."""


class AttemptLost(AttemptEvent, frozen=True):
    """Another response had won."""

    tag: ClassVar[Outcome] = "lost"


class AttemptReplayed(AttemptEvent, frozen=True):
    """The response that had won came again, under another key."""

    tag: ClassVar[Outcome] = "replayed"


class AttemptConflicted(AttemptEvent, frozen=True):
    """The key belonged to another response."""

    tag: ClassVar[Outcome] = "conflicted"


class AttemptFenced(AttemptEvent, frozen=True):
    """The instance belonged to another workspace."""

    tag: ClassVar[Outcome] = "fenced"


EVENT_TYPES: dict[str, type[AttemptEvent]] = {
    event_type.tag: event_type
    for event_type in (
        ResolutionWon,
        ResolutionAdopted,
        AttemptLost,
        AttemptReplayed,
        AttemptConflicted,
        AttemptFenced,
    )
}
"""Every event there is, by its tag."""
