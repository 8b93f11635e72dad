"""Our recorder is one of the ``eventsourcing`` package: its published cases hold for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest
from eventsourcing.persistence import (
    ApplicationRecorder,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    StoredEvent,
)

# The module, not its classes: pytest would run an abstract case that it finds here.
from eventsourcing.tests import persistence as published
from eventsourcing.utils import Environment

from resolution_ledger import Lost, ResolutionLedger, StoreBusy
from resolution_ledger.domain.events import EVENT_TYPES
from resolution_ledger.infra.sqlite.databases import FileDatabase, open_database
from resolution_ledger.infra.sqlite.recorder import (
    LedgerDatastore,
    LedgerFactory,
    LedgerRecorder,
)
from samples import WORKSPACE, instance, record, response


class _OnALedger:
    """What the published cases ask for: a recorder with nothing recorded, and stream ids."""

    directory: Path
    opened: list[LedgerDatastore]
    numbers: Iterator[int]

    @pytest.fixture(autouse=True)
    def _a_place(self, tmp_path: Path) -> Iterator[None]:
        self.directory, self.opened, self.numbers = tmp_path, [], count()
        yield
        for datastore in self.opened:
            datastore.close()

    def target(self) -> str:
        """A place with no ledger yet."""
        return str(self.directory / f"{next(self.numbers)}.db")

    def create_recorder(self) -> LedgerRecorder:
        """A recorder on a ledger of its own."""
        connections = open_database(self.target(), durability="full", lock_timeout=60.0)
        datastore = LedgerDatastore(connections)
        self.opened.append(datastore)
        recorder = LedgerRecorder(datastore)
        recorder.create_table()
        return recorder

    def new_originator_id(self) -> str:
        """Streams are named by text."""
        return str(uuid4())


class _InMemory(_OnALedger):
    def target(self) -> str:
        return ":memory:"


class TestOnAFile(_OnALedger, published.ApplicationRecorderTestCase[LedgerRecorder]):
    """The application recorder's cases, races included."""


class TestInMemory(_InMemory, published.ApplicationRecorderTestCase[LedgerRecorder]):
    """The same on one connection."""


class TestIdsDoNotInterleaveOnAFile(_OnALedger, published.NonInterleavingNotificationIDsBaseCase):
    """What was inserted together stands together in the log."""


class TestIdsDoNotInterleaveInMemory(_InMemory, published.NonInterleavingNotificationIDsBaseCase):
    """The same on one connection."""


# What the published cases do not say.


@pytest.fixture
def database(path: Path) -> Iterator[FileDatabase]:
    """A ledger that does not wait for locks."""
    with closing(open_database(str(path), durability="full", lock_timeout=0.0)) as database:
        assert isinstance(database, FileDatabase)
        yield database


@pytest.fixture
def recorder(database: FileDatabase) -> LedgerRecorder:
    """A recorder on an empty ledger at ``path``."""
    recorder = LedgerRecorder(LedgerDatastore(database))
    recorder.create_table()
    return recorder


@pytest.fixture
def locked(path: Path, recorder: LedgerRecorder) -> Iterator[sqlite3.Connection]:
    """A foreign connection that holds the write lock of the recorder's ledger."""
    assert recorder.max_notification_id() is None
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def stored(topic: str = "topic", stream: str = "a", version: int = 1) -> StoredEvent:
    """An event of somebody else's."""
    return StoredEvent(stream, version, topic, b"state")


@pytest.mark.parametrize("tag", EVENT_TYPES)
def test_events_of_the_ledger_itself_are_for_resolve_to_append(
    recorder: LedgerRecorder, tag: str
) -> None:
    with pytest.raises(ProgrammingError, match=tag):
        recorder.insert_events([stored(), stored(tag, instance(1).text)])
    assert recorder.max_notification_id() is None


NOT_STORABLE = {
    "no position": StoredEvent("a", None, "topic", b""),  # type: ignore[arg-type]
    "no topic": StoredEvent("a", 1, None, b""),  # type: ignore[arg-type]
    "no bytes": StoredEvent("a", 1, "topic", None),  # type: ignore[arg-type]
    "text for bytes": StoredEvent("a", 1, "topic", "text"),  # type: ignore[arg-type]
    "a fraction for a position": StoredEvent("a", 1.5, "topic", b""),  # type: ignore[arg-type]
    "a stream that is no UTF-8": StoredEvent("\ud800", 1, "topic", b""),
    "a topic that is no UTF-8": StoredEvent("a", 1, "\udc80", b""),
}


@pytest.mark.parametrize("event", NOT_STORABLE.values(), ids=NOT_STORABLE)
def test_what_the_log_cannot_hold_is_refused_as_the_package_refuses_it(
    recorder: LedgerRecorder, event: StoredEvent
) -> None:
    with pytest.raises(IntegrityError):
        recorder.insert_events([stored(), event])
    assert recorder.max_notification_id() is None


def test_nothing_is_recorded_beside_the_events(recorder: LedgerRecorder) -> None:
    with pytest.raises(ProgrammingError, match="tracking"):
        recorder.insert_events([stored()], tracking=None)
    assert recorder.max_notification_id() is None


def test_events_are_inserted_all_or_none(recorder: LedgerRecorder) -> None:
    recorder.insert_events([stored()])
    with pytest.raises(IntegrityError):
        recorder.insert_events([stored(version=2), stored(version=1)])
    assert recorder.insert_events([stored(version=2)]) == [2]


def test_no_events_are_no_transaction_that_counts(recorder: LedgerRecorder) -> None:
    assert recorder.insert_events([]) == []
    assert recorder.insert_events([stored()]) == [1]


def test_sequence_goes_on_where_resolve_left_it(recorder: LedgerRecorder, path: Path) -> None:
    with ResolutionLedger.open(path, workspace="ws") as ledger:
        ledger.resolve(record(1, 1, 1))
        assert recorder.insert_events([stored(), stored(version=2)]) == [2, 3]
        ledger.resolve(record(2, 1, 1))
        assert [a.sequence for n in (1, 2) for a in ledger.history(instance(n))] == [1, 4]


def test_events_of_others_in_its_stream_do_not_matter_to_an_instance(
    recorder: LedgerRecorder, path: Path
) -> None:
    """However many there are: nobody who decides reads them."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1))
        recorder.insert_events([stored("topic", instance(1).text, n) for n in range(2, 9)])
        assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))
        assert ledger.withdraw(instance(1), "expired") == Lost(response(1))
        assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))
        assert ledger.withdraw(instance(1), "expired") == Lost(response(1))
        assert recorder.max_notification_id() == 10


def test_a_write_transaction_waits_for_the_lock_when_it_begins(
    recorder: LedgerRecorder, database: FileDatabase, locked: sqlite3.Connection
) -> None:
    entered: list[object] = []
    with pytest.raises(StoreBusy, match="locked"):
        database.write(entered.append)
    with pytest.raises(OperationalError, match="locked"):
        recorder.insert_events([stored()])
    assert not entered
    locked.execute("ROLLBACK")
    assert recorder.insert_events([stored()]) == [1]


def test_statements_of_others_are_not_run(recorder: LedgerRecorder) -> None:
    with pytest.raises(NotSupportedError):
        recorder.datastore.transaction(commit=True)


def test_reading_does_not_wait_for_the_lock(
    recorder: LedgerRecorder, locked: sqlite3.Connection
) -> None:
    assert locked.in_transaction
    assert recorder.select_notifications(start=None, limit=10) == []
    assert recorder.max_notification_id() is None
    assert recorder.select_events("a") == []


@pytest.mark.parametrize("write", ["insert_events", "create_table"])
def test_every_transaction_begins_as_an_immediate_one(
    recorder: LedgerRecorder, database: FileDatabase, write: str
) -> None:
    ran: list[str] = []
    database.writer.read(
        database, lambda session: session.connection.set_trace_callback(ran.append)
    )
    if write == "insert_events":
        recorder.insert_events([stored()])
    else:
        recorder.create_table()
    begun = [statement for statement in ran if statement.upper().startswith("BEGIN")]
    assert begun == ["BEGIN IMMEDIATE"]
    assert "COMMIT" in ran


@pytest.mark.parametrize("kind", ["aggregate", "tracking", "process"])
def test_other_kinds_of_recorder_are_not_supported(path: Path, kind: str) -> None:
    with closing(LedgerFactory(Environment("", {"SQLITE_DBNAME": str(path)}))) as factory:
        with pytest.raises(NotSupportedError):
            getattr(factory, f"{kind}_recorder")()
        assert isinstance(factory.application_recorder(), ApplicationRecorder)


@pytest.mark.parametrize("create", ["y", "n"])
def test_whoever_follows_a_ledger_creates_none(path: Path, create: str) -> None:
    env = Environment("", {"SQLITE_DBNAME": str(path), "CREATE_TABLE": create})
    with closing(LedgerFactory(env)) as factory:
        recorder = factory.application_recorder()
        with pytest.raises(OperationalError):
            recorder.max_notification_id()
    assert not path.exists()
