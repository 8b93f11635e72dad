"""What the store asks of a database. Each dialect (SQLite, ...) answers it in its own SQL."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from typing import Literal, Protocol, TypeVar

from ..projections.closed_instances import ClosedInstanceRow
from ..projections.losing_attempts import LosingAttemptRow
from ..projections.read_models import Key, ReadModel, Row
from ..projections.winners import WinnerRow
from .chain import Head
from .health import Examination
from .rows import LogRow, NewRow, Page, SchemaPart, StoredRow

Durability = Literal["full", "normal"]
"""What an acknowledged answer survives: a power cut, or a crash of the process."""

T = TypeVar("T")


class Session(Protocol):
    """A connection in use: statements only, no decisions.

    Each look at the log raises ``SchemaTooNew`` if a newer version of this package has
    migrated the ledger, so that a process with old code stops. Whoever only reads finds a
    ledger of an older version as it is.
    """

    target: str
    """The address of the ledger, for messages."""

    def heads(self, stream: str) -> tuple[Head, int | None]:
        """The head of the log, and the sequence of the stream's first event, if it has one."""

    def is_up_to_date(self) -> bool:
        """Whether the ledger is of the newest version."""

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

    def add_closed_instance(self, row: ClosedInstanceRow) -> None:
        """Add to ``closed_instances``."""


class OperatorSession(Session, Protocol):
    """What an operator's work asks of a connection, beyond what deciding does.

    These read damaged rows as well as sound ones: text that is not UTF-8 comes with what is
    wrong as surrogates, and values of a wrong type come as they are.
    """

    def snapshot(self) -> AbstractContextManager[None]:
        """In here, everything that is read is of one moment. To be kept short."""

    def head(self) -> Head:
        """The head of the log."""

    def head_sequence(self) -> int:
        """Its sequence alone, whatever its hash is; 0 for an empty log."""

    def ledger_id(self) -> str:
        """The ledger's identity."""

    def log(self, start: int, upto: int, limit: int) -> Page[LogRow]:
        """Events by sequence, from ``start`` up to and including ``upto``."""

    def streams(self, after: int | None, upto: int, limit: int) -> Page[LogRow]:
        """Events of sequences up to ``upto``, by stream and position.

        From the beginning, or past the event of sequence ``after``.
        """

    def stream(self, stream: str, limit: int) -> list[LogRow]:
        """The events of one stream, by position, at most so many."""

    def first_events(
        self, after: Key, upto: int, limit: int, *, closing: bool = False
    ) -> Page[LogRow]:
        """Events at position 1, of sequences up to ``upto``, by stream, past ``after``.

        :param closing: only those that closed an instance.
        """

    def event(self, sequence: int) -> LogRow | None:
        """The event of this sequence."""

    def rows(self, model: ReadModel, after: Key, limit: int) -> Page[Row]:
        """Rows of a read model that have a key, by key, past ``after`` (None: from the first)."""

    def row(self, model: ReadModel, key: Key) -> Row | None:
        """A row of this key; None for one of those that have no key."""

    def put(self, model: ReadModel, rows: list[Row]) -> None:
        """Add the rows, or make those of their keys equal to them."""

    def remove(self, model: ReadModel, key: Key) -> None:
        """Remove the rows of this key.

        :raises CorruptLedger: if none goes.
        """

    def read_models(self) -> tuple[ReadModel, ...]:
        """Those that the ledger has: one that an older version has made may lack some."""

    def missing(self) -> list[SchemaPart]:
        """Parts of the schema that are missing or altered: read models, indexes and guards.

        Of the version that the ledger has.
        """

    def storage_faults(self, table: str) -> list[str]:
        """What the database itself finds wrong with a table and its indexes, a line each.

        An index that does not hold what its table holds hides events from those who decide.
        """

    def has_lost_rows(self, table: str) -> bool:
        """Whether an index has rows that are gone from the table, which else is as it says."""

    def reindex(self, table: str) -> None:
        """Make the indexes of a table anew from its rows.

        :raises CorruptLedger: if rows are there twice under one key.
        """

    def mend_schema(self) -> None:
        """Make what is missing, of the newest version: a write has brought the ledger there."""

    def establish(self, *, adopting: bool = False) -> None:
        """Make the ledger, if there is none.

        :param adopting: from the winners that a one-row table has.
        :raises NotAdopted: if there are such winners, and nobody adopts them.
        :raises NothingToAdopt: if there are none.
        """

    def winners_by_tick(self) -> Iterator[Row]:
        """The rows of ``interaction_resolutions``, in the order of tick and instance."""

    def contested(self, limit: int) -> list[tuple[str, int, int, int]]:
        """The instances that got the most different answers.

        As: instance, how many answers other than the winner's, how many attempts to give
        them, the earliest tick of these.
        """

    def take_identity(self, ledger_id: str) -> None:
        """Be the ledger of this identity. Only for one that has no event yet."""


class Database(Protocol):
    """One ledger, for any number of threads."""

    target: str
    """The address of the ledger, for messages."""

    def place(self) -> Hashable:
        """What two databases of this process have in common if they are on one ledger.

        :raises StoreUnavailable: if there is none.
        """

    def read(self, work: Callable[[OperatorSession], T], *, timeout: float | None = None) -> T:
        """What ``work`` returns, given a session that takes no write lock.

        It never creates a ledger, and hardly ever has to wait.

        :param timeout: seconds to wait all the same; by default the ledger's own.
        """

    def winner(self, stream: str, workspace: str) -> str | None:
        """The response by which the workspace won, as ``interaction_resolutions`` has it.

        It may be of a ledger that was in its place a millisecond ago. None if there is no such
        row, or if the ledger is not of the newest version: then only a look at the log can tell.

        :raises CorruptLedger: if the table or the row cannot be read.
        """

    def submit(self, work: Callable[[Session], T], shortcut: Callable[[], T | None]) -> T:
        """What ``work`` returns, given a session inside a write transaction.

        The transaction is committed when ``work`` returns, perhaps together with the work of
        others. If it raises, what it did is undone, and nobody else's work is. It may be called in
        another thread, and again. The ledger is created where there is none.

        :param shortcut: called if there is more than a moment to wait: what it returns, if not
            None, is returned, and nothing is written.
        :raises StoreBusy: if others write for longer than the ledger's ``lock_timeout``.
        """

    def write(self, work: Callable[[OperatorSession], T], *, timeout: float | None = None) -> T:
        """What ``work`` returns, given a session inside a write transaction of its own.

        The transaction is committed when ``work`` returns, and rolled back if it raises. The
        ledger is created where there is none, and brought up to date where it is of an older
        version.

        :param timeout: seconds to wait for others that write; by default the ledger's own.
        :raises StoreBusy: if they took longer.
        """

    def establish(self, work: Callable[[OperatorSession], T], *, create: bool) -> T:
        """What ``work`` returns, given a session inside a write transaction.

        There may be no ledger yet: ``work`` begins by calling the session's ``establish``.

        :param create: there need not even be a file.
        """

    def examine(self, *, check: bool) -> Examination:
        """What is to be said of the database and what is around it, changing nothing.

        :param check: have the database look through all of its file.
        :raises StoreUnavailable: if there is none.
        """

    def close(self) -> None:
        """Refuse new calls, let those in flight finish, then close every connection."""
