"""What an examination of a ledger's surroundings tells: what was seen, and what to do about it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Subject = Literal[
    "sqlite",
    "threading mode",
    "file",
    "names",
    "file system",
    "free space",
    "access",
    "wal",
    "other files",
    "gate",
    "durability",
    "journal mode",
    "ledger",
    "schema version",
    "events",
    "check",
]
"""What was looked at; docs/operating.md has a line for each."""

Level = Literal["fine", "note", "warning"]
"""Nothing to be said; to be known; to be done something about."""


class Observation(Struct, frozen=True):
    """One thing that was looked at."""

    subject: Subject
    found: str | int | None
    """What is there; sizes in bytes. None where it could not be seen, or was not looked at."""
    level: Level = "fine"
    advice: str | None = None
    """None where nothing is to be said."""


class Examination(Struct, frozen=True):
    """What ``LedgerAdmin.examine`` saw."""

    observations: tuple[Observation, ...]

    @property
    def warnings(self) -> tuple[Observation, ...]:
        """Those that something should be done about."""
        return tuple(seen for seen in self.observations if seen.level == "warning")
