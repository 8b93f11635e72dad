"""The log as users of the ``eventsourcing`` package know it: datastore, recorder, factory.

Set ``PERSISTENCE_MODULE`` to ``resolution_ledger.infra.sqlite.recorder:LedgerFactory`` and
``SQLITE_DBNAME`` to a ledger's path, and the package's applications, notification logs and
readers follow the ledger. All connections are those of :mod:`.connections`: immediate
transactions, and none that crosses a fork.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn
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
    SQLiteCursor,
    SQLiteDatastore,
    SQLiteFactory,
)

from ...domain.errors import StoreError
from ...domain.events import EVENT_TYPES
from ..fingerprints import NO_FINGERPRINT
from ..mapper import ResolutionMapper
from . import statements
from .connections import Connections, connections_to
from .schema import EVENTS

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class LedgerDatastore(SQLiteDatastore):
    """The package's datastore, over the connections of a ledger."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(":memory:", originator_id_type="text")  # its pool opens nothing
        self.connections = connections

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[SQLiteCursor]:
        """A write transaction, or a cursor for one statement that reads."""
        with translated():
            if commit:
                with self.connections.writing() as session:
                    yield SQLiteCursor(session.connection.cursor())
            else:
                with self.connections.reading() as session:
                    cursor = session.connection.cursor()
                    cursor.row_factory = sqlite3.Row  # the package reads columns by name
                    yield SQLiteCursor(cursor)

    def close(self) -> None:
        """Close the connections."""
        super().close()
        if hasattr(self, "connections"):  # the package calls this from __del__, too
            self.connections.close()


class LedgerRecorder(SQLiteApplicationRecorder):
    """Appends to and reads the ``resolution_events`` of a ledger.

    What the ledger itself decides is appended through the same session, in the same kind of
    transaction. Here, its own tags are refused: they are for ``resolve`` to write, with the
    rules and the read models.
    """

    datastore: LedgerDatastore

    def __init__(self, datastore: LedgerDatastore) -> None:
        super().__init__(datastore, events_table_name=EVENTS)
        self.select_max_notification_id_statement = statements.HEAD

    def construct_create_table_statements(self) -> list[str]:
        """None: the first write transaction creates the ledger, with all its tables."""
        return []

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        """Append the events, all or none, and return their sequence numbers."""
        if kwargs:
            raise ProgrammingError(f"nothing is recorded beside the events: {', '.join(kwargs)}")
        for stored in stored_events:
            if stored.topic in EVENT_TYPES:
                raise ProgrammingError(f"only resolve appends {stored.topic!r} events")
        with translated(), self.datastore.connections.writing() as session:
            head = session.head()
            for sequence, stored in enumerate(stored_events, start=head + 1):
                session.append_event(
                    (
                        sequence,
                        _stream(stored.originator_id),
                        stored.originator_version,
                        stored.topic,
                        stored.state,
                        NO_FINGERPRINT,
                    )
                )
        return list(range(head + 1, head + 1 + len(stored_events)))

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
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute(statements.notifications(len(topics)), (first, last, *topics, limit))
            return [
                Notification(
                    originator_id=row["originator_id"],
                    originator_version=row["originator_version"],
                    topic=row["topic"],
                    state=row["state"],
                    id=row["sequence"],
                )
                for row in cursor.fetchall()
            ]


class LedgerFactory(SQLiteFactory):
    """Makes recorders and mappers for a ledger."""

    datastore: LedgerDatastore

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        pool = self.datastore.pool  # never used, but it has parsed the environment
        timeout = pool.lock_timeout or SQLITE3_DEFAULT_LOCK_TIMEOUT
        self.datastore = LedgerDatastore(
            connections_to(pool.db_name, durability="full", lock_timeout=timeout)
        )

    def application_recorder(self) -> LedgerRecorder:
        """A recorder on the ledger, which is created if there is none (``CREATE_TABLE``)."""
        recorder = LedgerRecorder(self.datastore)
        if self.env_create_table():
            recorder.create_table()
        return recorder

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
    except (StoreError, sqlite3.Error) as error:
        fault = error.__cause__ if isinstance(error, StoreError) else error
        if isinstance(fault, sqlite3.IntegrityError):
            raise IntegrityError(error) from error
        raise OperationalError(error) from error


def _stream(originator_id: UUID | str) -> str:
    return originator_id.hex if isinstance(originator_id, UUID) else originator_id
