"""What the store asks of a database. Each dialect (SQLite, ...) answers it in its own SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

from ..projections.losing_attempts import LosingAttemptRow
from ..projections.winners import WinnerRow
from .chain import Head

Durability = Literal["full", "normal"]
"""What an acknowledged answer survives: a power cut, or a crash of the process."""

StoredRow = tuple[int, str, int, str, bytes]
"""An event as the log holds it: sequence, stream, position, tag, bytes."""

NewRow = tuple[str, int, str, bytes, int]
"""An event about to be appended: stream, position, tag, bytes, fingerprint."""

T = TypeVar("T")


class Session(Protocol):
    """A connection in use: statements only, no decisions.

    Each look at the log raises ``SchemaTooNew`` if a newer version of this package has
    migrated the ledger, so that a process with old code stops.
    """

    def heads(self, stream: str) -> tuple[Head, int | None]:
        """The head of the log, and the sequence of the stream's first event, if it has one."""

    def first_event(self, stream: str) -> StoredRow | None:
        """The event with which the stream begins."""

    def events_that_matter(
        self, stream: str, first: int, fingerprints: tuple[int, int]
    ) -> tuple[int, list[StoredRow]]:
        """The end of a stream that has begun, and those of its events that can matter.

        As its greatest position; and, by position, the event of sequence ``first`` and those
        past position 1 that have one of the fingerprints.
        """

    def stream_events(self, stream: str) -> list[StoredRow]:
        """All events of the stream, by position."""

    def losing_attempts(self, workspace: str, limit: int) -> list[LosingAttemptRow]:
        """The workspace's losing attempts, replays left out, newest first."""

    def append_event(self, head: Head, row: NewRow) -> Head:
        """Append to the log whose head this is, and return the new one.

        The log's keys refuse a position or sequence that is taken.
        """

    def add_winner(self, row: WinnerRow) -> None:
        """Add to ``interaction_resolutions``."""

    def add_losing_attempt(self, row: LosingAttemptRow) -> None:
        """Add to ``losing_attempts``."""


class Database(Protocol):
    """One ledger, for any number of threads."""

    target: str
    """The address of the ledger, for messages."""

    def read(self, work: Callable[[Session], T], *, timeout: float | None = None) -> T:
        """What ``work`` returns, given a session that takes no write lock.

        It never creates a ledger, and hardly ever has to wait.

        :param timeout: seconds to wait all the same; by default the ledger's own.
        """

    def write(self, work: Callable[[Session], T], *, timeout: float | None = None) -> T:
        """What ``work`` returns, given a session inside a write transaction of its own.

        The transaction is committed when ``work`` returns, and rolled back if it raises. The
        ledger is created where there is none.

        :param timeout: seconds to wait for others that write; by default the ledger's own.
        :raises StoreBusy: if they took longer.
        """

    def close(self) -> None:
        """Refuse new calls, let those in flight finish, then close every connection."""
