"""What an audit of a ledger tells: findings, progress and the report at its end."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FindingKind = Literal[
    "guard",
    "storage",
    "identity",
    "checkpoint",
    "sequence",
    "hash",
    "event",
    "fingerprint",
    "instance",
    "position",
    "decision",
    "winner",
    "losing attempt",
    "closed instance",
]
"""What is wrong:

* guard: a table, index or trigger of the schema is missing or altered.
* storage: the database file itself: an index does not hold what its table holds.
* identity: the ledger's identity is none that a ledger is given.
* checkpoint: the log does not continue the one that the checkpoint was taken of.
* sequence: the numbers of the log have a gap.
* hash: the event is not the one that its hash, or the next one, vouches for.
* event: it is nothing that a ledger writes, or stands where it cannot stand.
* fingerprint: the event is not found by what depends on it.
* instance: the stream is no canonical id.
* position: the positions of an instance have a gap.
* decision: by the rules, the attempt or withdrawal would have come to something else.
* winner, losing attempt, closed instance: a row of a read model is not what the log demands.
"""


class Finding(Struct, frozen=True):
    """One thing that is wrong."""

    kind: FindingKind
    sequence: int | None
    """Of the event, where it is a matter of one."""
    instance: str | None
    """The instance as the ledger names it: where it is damaged, this is no id."""
    expected: str | None
    """None where nothing should be there."""
    found: str | None
    """None where nothing is there."""


class Progress(Struct, frozen=True):
    """How far a long run has come."""

    done: int
    total: int
    """In the same unit as ``done``: events to look at, each as often as the run does."""
    seconds: float
    """Since it began."""

    @property
    def rate(self) -> float:
        """How many a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How much longer it takes at this rate; None while nobody can know."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None


class Report(Struct, frozen=True):
    """What ``verify`` found, or what ``rebuild`` mended."""

    length: int
    """The sequence of the newest event when the run began: how far it looked."""
    findings: tuple[Finding, ...]
    """In the order in which they were found: the first thousands of them, see ``count``."""
    count: int
    """How many there were."""

    @property
    def clean(self) -> bool:
        """Whether there was none."""
        return self.count == 0
