"""The events of an instance: what is on record once an attempt or a withdrawal was decided."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from .errors import InvalidTick
from .ids import ResponseId
from .numbers import plain_integer
from .records import Outcome, Reason
from .text import IdempotencyKey

_LEAST_TICK, _GREATEST_TICK = -(2**63), 2**63 - 1


def check_tick(value: object) -> int:
    """Return ``value`` if it can be a tick: a signed 64-bit integer.

    :raises InvalidTick: if not.
    """
    plain = plain_integer(value)
    if plain is None or not _LEAST_TICK <= plain <= _GREATEST_TICK:
        raise InvalidTick(value)
    return plain


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


class Withdrawal(Struct, frozen=True):
    """The wish of a host, in a workspace, to stop asking."""

    workspace: str
    reason: Reason
    submitted_by: str

    @property
    def submission(self) -> Submission:
        """What makes two withdrawals the same one, sent twice. The label is no part of it."""
        return self.workspace, self.reason


Submission = tuple[str, ResponseId, IdempotencyKey] | tuple[str, Reason]
"""Two attempts, or two withdrawals, that agree in these are one, sent twice."""


class Event(Struct, frozen=True):
    """An attempt or a withdrawal, and what it came to: each outcome is a class of its own."""

    # The tag is what the log stores. It names the event for good: rename the class, never it.
    tag: ClassVar[Outcome]

    cause: Attempt | Withdrawal
    tick: int
    """Nanoseconds since 1970 by the writer's clock. For display; it orders nothing."""


class AttemptEvent(Event, frozen=True):
    """What an attempt came to."""

    cause: Attempt


class WithdrawalEvent(Event, frozen=True):
    """What a withdrawal came to."""

    cause: Withdrawal


# The first event of an instance.


class ResolutionWon(AttemptEvent, frozen=True):
    """This response is the answer."""

    tag: ClassVar[Outcome] = "won"


class ResolutionAdopted(AttemptEvent, frozen=True):
    """A win that this ledger did not witness: taken over from a table that decided before it."""

    tag: ClassVar[Outcome] = "adopted"


class InstanceClosed(WithdrawalEvent, frozen=True):
    """The host has stopped asking before anybody answered."""

    tag: ClassVar[Outcome] = "closed"


Win = ResolutionWon | ResolutionAdopted
"""What resolves an instance."""

First = Win | InstanceClosed
"""What an instance begins with. None of them stands at any other position."""


# What came to nothing.


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


class AttemptLate(AttemptEvent, frozen=True):
    """The instance had been closed."""

    tag: ClassVar[Outcome] = "late"


class WithdrawalLost(WithdrawalEvent, frozen=True):
    """A response had won."""

    tag: ClassVar[Outcome] = "withdrawal-lost"


class WithdrawalFenced(WithdrawalEvent, frozen=True):
    """The instance belonged to another workspace."""

    tag: ClassVar[Outcome] = "withdrawal-fenced"


class WithdrawalLate(WithdrawalEvent, frozen=True):
    """The instance had been closed already, for another reason."""

    tag: ClassVar[Outcome] = "withdrawal-late"


EVENT_TYPES: dict[str, type[Event]] = {
    event_type.tag: event_type
    for event_type in (
        ResolutionWon,
        ResolutionAdopted,
        InstanceClosed,
        AttemptLost,
        AttemptReplayed,
        AttemptConflicted,
        AttemptFenced,
        AttemptLate,
        WithdrawalLost,
        WithdrawalFenced,
        WithdrawalLate,
    )
}
"""Every event there is, by its tag."""
