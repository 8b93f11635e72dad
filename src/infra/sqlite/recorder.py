"""The log as users of the ``eventsourcing`` package know it: datastore, recorder, factory.

Set ``PERSISTENCE_MODULE`` to ``resolution_ledger.infra.sqlite.recorder:LedgerFactory`` and
``SQLITE_DBNAME`` to a ledger's path, and the package's applications, notification logs and
readers follow the ledger. All connections are the ledger's own: immediate
transactions, and none that crosses a fork.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, cast
from uuid import UUID

from eventsourcing.persistence import (
    IntegrityError,
    Mapper,
    Notification,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    StoredEvent,
)
from eventsourcing.sqlite import (
    SQLITE3_DEFAULT_LOCK_TIMEOUT,
    SQLiteApplicationRecorder,
    SQLiteDatastore,
    SQLiteFactory,
)
from msgspec import ValidationError, convert

from ...domain.errors import StoreError
from ...domain.events import EVENT_TYPES
from ..fingerprints import NO_FINGERPRINT
from ..mapper import ResolutionMapper
from . import statements
from .databases import FileDatabase, open_database
from .memory import MemoryDatabase
from .schema import EVENTS
from .session import SQLiteSession

Database = FileDatabase | MemoryDatabase

_STORED = tuple[str, int, str, bytes]
"""Stream, position, tag and bytes: what a hash is made of."""

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class LedgerDatastore(SQLiteDatastore):
    """The package's datastore, over a ledger's own connections."""

    def __init__(self, database: Database) -> None:
        super().__init__(":memory:", originator_id_type="text")  # its pool opens nothing
        self.database = database

    def transaction(self, *, commit: bool) -> NoReturn:  # noqa: ARG002 - the package's name
        """Not supported: what the recorder does not do would bypass the rules."""
        raise NotSupportedError("a ledger runs no statements of others")

    def close(self) -> None:
        """Close the connections."""
        super().close()
        if hasattr(self, "database"):  # the package calls this from __del__, too
            self.database.close()


class LedgerRecorder(SQLiteApplicationRecorder):
    """Appends to and reads the ``resolution_events`` of a ledger.

    What the ledger itself decides is appended through the same session, in the same kind of
    transaction. Here, its own tags are refused: the ledger alone appends them, with the rules
    and the read models.
    """

    datastore: LedgerDatastore

    def __init__(self, datastore: LedgerDatastore) -> None:
        super().__init__(datastore, events_table_name=EVENTS)

    def construct_create_table_statements(self) -> list[str]:
        """None: a ledger has its own schema."""
        return []

    def create_table(self) -> None:
        """Create the ledger, if there is none: as the first ``insert_events`` would."""
        with translated():
            self.datastore.database.write(lambda _: None)

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        """Append the events, all or none, and return their sequence numbers."""
        if kwargs:
            raise ProgrammingError(f"nothing is recorded beside the events: {', '.join(kwargs)}")
        for stored in stored_events:
            _check(stored)

        def append(session: SQLiteSession) -> list[int]:
            head = session.head()
            first = head.sequence + 1
            for stored in stored_events:
                head = session.append_event(
                    head,
                    (
                        _stream(stored.originator_id),
                        stored.originator_version,
                        stored.topic,
                        stored.state,
                        NO_FINGERPRINT,
                    ),
                )
            return list(range(first, first + len(stored_events)))

        with translated():
            return self.datastore.database.write(append)

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Up to ``limit`` events of a stream, from past ``gt`` up to and including ``lte``."""
        rows = self._read(
            statements.stream_slice(descending=desc),
            _stream(originator_id),
            _INT64_MIN if gt is None else gt,
            _INT64_MAX if lte is None else lte,
            _INT64_MAX if limit is None else limit,
        )
        return [StoredEvent(*row[1:]) for row in rows]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Up to ``limit`` events by sequence, from ``start`` up to and including ``stop``."""
        first = _INT64_MIN if start is None else start if inclusive_of_start else start + 1
        last = _INT64_MAX if stop is None else stop
        rows = self._read(statements.notifications(len(topics)), first, last, *topics, limit)
        return [
            Notification(
                originator_id=stream, originator_version=position, topic=tag, state=state, id=n
            )
            for n, stream, position, tag, state in rows
        ]

    def max_notification_id(self) -> int:
        """The greatest sequence, or None if the log is empty."""
        rows = self._read(statements.HEAD)
        # The package says int where its own abstract class allows None.
        return cast(int, rows[0][0] if rows else None)

    def _read(self, statement: str, *values: object) -> list[Any]:
        with translated():
            return self.datastore.database.read(lambda session: session.read(statement, values))


class LedgerFactory(SQLiteFactory):
    """Makes recorders and mappers for a ledger."""

    datastore: LedgerDatastore

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        pool = self.datastore.pool  # never used, but it has parsed the environment
        timeout = pool.lock_timeout or SQLITE3_DEFAULT_LOCK_TIMEOUT
        self.datastore = LedgerDatastore(
            open_database(pool.db_name, durability="full", lock_timeout=timeout)
        )

    def application_recorder(self) -> LedgerRecorder:
        """A recorder on the ledger.

        It creates none, whatever ``CREATE_TABLE`` says: to follow a mistyped path is an error.
        """
        return LedgerRecorder(self.datastore)

    def mapper(self, transcoder: Any = None, mapper_class: Any = None) -> Mapper[Any]:
        """The mapper for the ledger's own events."""
        return super().mapper(transcoder, mapper_class or ResolutionMapper)

    def aggregate_recorder(self, purpose: str = "events") -> NoReturn:
        """Not supported: the ledger has no snapshots."""
        raise NotSupportedError(f"a ledger has no recorder of {purpose} for aggregates")

    def tracking_recorder(self, _: Any = None) -> NoReturn:
        """Not supported: a follower keeps its position in its own database."""
        raise NotSupportedError("a ledger does not track its followers")

    def process_recorder(self) -> NoReturn:
        """Not supported: a ledger follows nobody."""
        raise NotSupportedError("a ledger does not process other logs")


@contextmanager
def translated() -> Iterator[None]:
    """Raise what callers of the package expect, in place of this project's errors."""
    try:
        yield
    except StoreError as error:
        if isinstance(error.__cause__, sqlite3.IntegrityError):
            raise IntegrityError(error) from error
        raise OperationalError(error) from error


def _check(stored: StoredEvent) -> None:
    """Refuse what the log cannot hold, or holds only if ``resolve`` wrote it."""
    if stored.topic in EVENT_TYPES:
        raise ProgrammingError(f"only the ledger itself appends {stored.topic!r} events")
    stream = _stream(stored.originator_id)
    try:
        values = (stream, stored.originator_version, stored.topic, stored.state)
        convert(values, _STORED, builtin_types=(bytes,))  # else text would pass for base64
        (stream + stored.topic).encode()
    except (ValidationError, UnicodeEncodeError) as error:
        raise IntegrityError(error) from error


def _stream(originator_id: UUID | str) -> str:
    return originator_id.hex if isinstance(originator_id, UUID) else originator_id
