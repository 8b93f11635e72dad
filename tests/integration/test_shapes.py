"""What tables look like is read off each schema once, and never taken for that of another one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from inside import OpenLedger
from resolution_ledger import CorruptLedger, Lost, ResolutionLedger
from resolution_ledger.infra.sqlite import shapes
from resolution_ledger.infra.sqlite.schema import MIGRATIONS, migrate
from samples import record, response

CHANGES = [
    "ALTER TABLE losing_attempts DROP COLUMN submitted_by",
    "ALTER TABLE losing_attempts RENAME COLUMN submitted_by TO somebody",
    "DROP TABLE closed_instances",
    "DROP INDEX losing_attempts_newest",
    "DROP INDEX resolution_events_by_fingerprint",
]


@pytest.fixture
def connection() -> sqlite3.Connection:
    """A ledger's tables, in memory."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    migrate(fresh, 0)
    return fresh


def test_a_schema_that_was_read_before_is_not_read_again(connection: sqlite3.Connection) -> None:
    first, ran = shapes.shapes(connection), list[str]()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as other:
        migrate(other, 0)
        other.set_trace_callback(ran.append)
        assert shapes.shapes(other) == first
    assert len(ran) == 1


@pytest.mark.parametrize("change", CHANGES)
def test_a_schema_that_has_changed_is_read_anew(
    connection: sqlite3.Connection, change: str
) -> None:
    before = shapes.shapes(connection)
    connection.execute(change)
    after = shapes.shapes(connection)
    assert after != before
    assert after == shapes._read_shapes(connection)  # noqa: SLF001 (what is not remembered)


@pytest.mark.parametrize("change", CHANGES)
def test_a_schema_that_changes_while_it_is_read_is_not_remembered(
    connection: sqlite3.Connection, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "_read", {})
    read = shapes._read_shapes  # noqa: SLF001 (the moment in between)

    def read_when_overtaken(overtaken: sqlite3.Connection) -> dict[str, shapes.Shape]:
        overtaken.execute(change)
        return read(overtaken)

    with monkeypatch.context() as once:
        once.setattr(shapes, "_read_shapes", read_when_overtaken)
        shapes.shapes(connection)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as sound:
        migrate(sound, 0)
        found = shapes.shapes(sound)
    assert {name: found[name] for name in shapes.shapes_of(len(MIGRATIONS))} == shapes.shapes_of(
        len(MIGRATIONS)
    )


def test_many_schemas_and_large_ones_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[object, object] = {}
    monkeypatch.setattr(shapes, "_read", kept)
    for number in range(30):
        with closing(sqlite3.connect(":memory:")) as other:
            other.execute(f"CREATE TABLE other_{number} (a)")
            shapes.shapes(other)
    assert 0 < len(kept) < 10
    kept.clear()
    with closing(sqlite3.connect(":memory:")) as large:
        for number in range(600):
            large.execute(f"CREATE TABLE other_{number} (a)")
        assert shapes.shapes(large) == {}
    assert not kept


def test_a_table_altered_between_two_openings_is_noticed(
    ledger: ResolutionLedger, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.close()
    with open_ledger() as again:
        assert again.resolve(record(1, 2, 2)) == Lost(response(1))
    foreign().execute(CHANGES[0])
    with open_ledger() as altered, pytest.raises(CorruptLedger, match="losing_attempts is altered"):
        altered.resolve(record(1, 3, 3))


def test_what_others_have_in_the_schema_need_not_be_text(
    ledger: ResolutionLedger, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.close()
    other = foreign()
    other.execute("PRAGMA writable_schema = ON")
    other.execute("CREATE TABLE somebodys (a)")
    other.execute(
        "UPDATE sqlite_master SET sql = CAST(x'435245415445205441424c4520736f6d65626f6479732028"
        "61202f2a20e9202a2f29' AS TEXT) WHERE name = 'somebodys'"
    )
    other.close()
    with open_ledger() as again:
        assert again.resolve(record(1, 2, 2)) == Lost(response(1))
