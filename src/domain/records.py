"""What callers submit and what the ledger tells of it afterwards."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from .errors import InvalidId, InvalidText
from .ids import InstanceId, ResponseId
from .text import IdempotencyKey, check_text

Reason = Literal["expired", "withdrawn"]
"""Why a host stops asking: nobody answered in time, or the question has become pointless."""

Outcome = Literal[
    "won",
    "adopted",
    "closed",
    "lost",
    "replayed",
    "conflicted",
    "fenced",
    "late",
    "withdrawal-lost",
    "withdrawal-fenced",
    "withdrawal-late",
]
"""What an attempt or withdrawal came to. The same words are the tags of the stored events."""

WINNING: frozenset[Outcome] = frozenset({"won", "adopted"})
"""Those that resolve an instance."""

FIRST: frozenset[Outcome] = WINNING | {"closed"}
"""Those that stand at position 1, and nowhere else."""

LOSING: frozenset[Outcome] = frozenset({"lost", "replayed", "conflicted", "fenced", "late"})
"""Those of attempts that came after the instance was resolved or closed."""


class ResolutionRecord(Struct, frozen=True):
    """One submission: this response to this instance, under this key.

    ``submitted_by`` is a claimed label for the audit ("tty", "web:7f3a"), at most 512 bytes.
    It is shown, never compared, never an authority.

    :raises InvalidId: if an id is not of its own type.
    :raises InvalidText: if the key is not an ``IdempotencyKey`` or the label is not text.
    """

    instance: InstanceId
    response: ResponseId
    idempotency_key: IdempotencyKey
    submitted_by: str = ""

    def __post_init__(self) -> None:
        # Exactly these types: a subclass is never equal to what is read back from the log.
        if type(self.instance) is not InstanceId:
            raise InvalidId(self.instance, "not an InstanceId")
        if type(self.response) is not ResponseId:
            raise InvalidId(self.response, "not a ResponseId")
        if type(self.idempotency_key) is not IdempotencyKey:
            raise InvalidText("idempotency key", self.idempotency_key, "is no IdempotencyKey")
        label = check_text("submitted_by", self.submitted_by, may_be_empty=True)
        if label is not self.submitted_by:
            force_setattr(self, "submitted_by", label)


class RecordedAttempt(Struct, frozen=True):
    """An attempt or a withdrawal as it stands in the log: which of them, ``reason`` tells."""

    instance: InstanceId
    position: int
    """Its place among the events of the instance, from 1. Position 1 has won, or closed it."""
    sequence: int
    """Its place among all events of the ledger, from 1, in the order of their commits."""
    outcome: Outcome
    response: ResponseId | None
    """None for a withdrawal, as is the key."""
    idempotency_key: IdempotencyKey | None
    submitted_by: str
    workspace: str
    tick: int
    """The writer's wall clock in nanoseconds since 1970. For display; it orders nothing."""
    reason: Reason | None = None
    """Of a withdrawal; None for an attempt to answer."""
