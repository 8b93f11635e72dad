"""What the store asks of a database. Each dialect (SQLite, ...) answers it in its own SQL."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from ..projections.losing_attempts import LosingAttemptRow
from ..projections.winners import WinnerRow

StoredRow = tuple[int, str, int, str, bytes]
"""An event as the log holds it: sequence, stream, position, tag, state."""

NewRow = tuple[int, str, int, str, bytes, int]
"""An event about to be appended: a stored row and its fingerprint."""


class Session(Protocol):
    """One connection in use: statements only, no decisions."""

    def head_and_first(self, stream: str) -> tuple[int, StoredRow | None]:
        """The greatest sequence of the log (0 if it is empty), and the stream's first event.

        :raises SchemaTooNew: if a newer version of this package has migrated the ledger.
        """

    def last_position(self, stream: str) -> int:
        """The greatest position of a stream that is not empty."""

    def events_by_fingerprint(self, stream: str, fingerprints: tuple[int, int]) -> list[StoredRow]:
        """Events of the stream past position 1, by position."""

    def stream_events(self, stream: str) -> list[StoredRow]:
        """All events of the stream, by position."""

    def losing_attempts(self, workspace: str, limit: int) -> list[LosingAttemptRow]:
        """The workspace's losing attempts, replays left out, newest first."""

    def append_event(self, row: NewRow) -> None:
        """Append to the log. Its keys refuse a position or sequence that is taken."""

    def add_winner(self, row: WinnerRow) -> None:
        """Add to ``interaction_resolutions``."""

    def add_losing_attempt(self, row: LosingAttemptRow) -> None:
        """Add to ``losing_attempts``."""


class Database(Protocol):
    """Sessions on one ledger, for any number of threads."""

    target: str
    """The address of the ledger, for messages."""

    def reading(self) -> AbstractContextManager[Session]:
        """A session that takes no write lock and never creates a ledger."""

    def writing(self, *, wait: bool) -> AbstractContextManager[Session]:
        """A session inside one write transaction: committed at the end, or not at all.

        It creates the ledger where there is none.

        :raises StoreBusy: if others write; without ``wait``, at once.
        """

    def close(self) -> None:
        """Let calls in flight finish, then close every connection."""
