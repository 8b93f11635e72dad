"""Whoever first writes to a ledger of an older version brings it up to date."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from inside import OpenLedger, all_rows, definitions
from integration.closers import close_at_once
from integration.migrations import newer_version, version
from integration.old_ledgers import (
    CALLERS_CALLS,
    FIRST_WRITES,
    LEDGERS,
    NEWEST,
    VERSION_1,
    restore,
    tables_of_version_1,
)
from processes import run_together
from resolution_ledger import (
    Closed,
    InvalidExport,
    LedgerAdmin,
    NotALedger,
    ResolutionLedger,
    SchemaTooNew,
    Withdrawn,
)
from resolution_ledger.infra.sqlite import schema
from samples import instance, response

Foreign = Callable[..., sqlite3.Connection]


@pytest.fixture(params=["delete", "wal"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A ledger of version 1, in either of the modes that its file can be in."""
    return restore(VERSION_1, tmp_path / "ledger.db", journal=request.param)


@pytest.mark.parametrize(("write", "told"), FIRST_WRITES.values(), ids=FIRST_WRITES)
def test_the_first_write_migrates_it_once(
    open_ledger: OpenLedger,
    foreign: Foreign,
    tmp_path: Path,
    write: Callable[[ResolutionLedger], object],
    told: object,
) -> None:
    """To what a new one is; nothing that was there has changed."""
    connection = foreign()
    before = tables_of_version_1(connection)
    ledger = open_ledger()
    assert ledger.winner(instance(1)) == response(1)
    assert version(connection) == 1
    assert write(ledger) == told
    assert version(connection) == NEWEST
    migrated = definitions(connection)
    assert ledger.withdraw(instance(10), "withdrawn") == Withdrawn()
    assert definitions(connection) == migrated
    after = tables_of_version_1(connection)
    assert all(set(rows) <= set(after[table]) for table, rows in before.items())
    open_ledger(tmp_path / "new.db").create()
    assert plain(migrated) == plain(definitions(foreign(tmp_path / "new.db")))
    with LedgerAdmin.open(path_of(connection)) as admin:
        assert admin.verify().findings == ()


def plain(parts: list[tuple[str, ...]]) -> list[list[str]]:
    """Definitions without their layout."""
    return [[" ".join(str(text).split()) for text in part] for part in parts]


def path_of(connection: sqlite3.Connection) -> str:
    """Where the database of a connection is."""
    ((file,),) = connection.execute("SELECT file FROM pragma_database_list LIMIT 1")
    return str(file)


def test_processes_whose_first_write_comes_at_once_migrate_it_once(
    tmp_path: Path, foreign: Foreign
) -> None:
    """And one of them closes the instance."""
    paths = [restore(VERSION_1, tmp_path / f"{n}.db") for n in range(20)]
    writes = ["", "", "create", "resolve"]
    told = run_together(close_at_once, [([*map(str, paths)], before) for before in writes])
    for answers in zip(*told, strict=True):
        assert sorted(map(repr, answers)) == [repr(Closed("expired"))] * 3 + [repr(Withdrawn())]
    for path in paths:
        assert version(foreign(path)) == NEWEST
        assert len(all_rows(foreign(path))["closed_instances"]) == 1
        with LedgerAdmin.open(path) as admin:
            assert admin.verify().findings == ()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM losing_attempts",
        "DROP INDEX losing_attempts_newest",
        "DROP TABLE losing_attempts",
        "DROP TRIGGER resolution_events_refuse_update",
    ],
)
def test_a_rebuild_that_mends_it_migrates_it(path: Path, foreign: Foreign, damage: str) -> None:
    """Since it writes. That there was less to be kept before is no finding."""
    connection = foreign()
    rows = tables_of_version_1(connection)
    connection.execute(damage)
    with LedgerAdmin.open(path) as admin:
        wrong = {finding.kind for finding in admin.verify().findings}
        assert version(connection) == 1
        mended = admin.rebuild().findings
        assert {finding.kind for finding in mended} >= wrong != set()
        assert "closed_instances" not in str(mended)
        assert "resolution_events_closing" not in str(mended)
        assert version(connection) == NEWEST
        assert admin.verify().findings == ()
        assert admin.rebuild().clean
    assert tables_of_version_1(connection) == rows


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A ledger of version 1 without events."""
    path = tmp_path / "empty.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        schema.MIGRATIONS[0](connection)
    return path


def export_of(path: Path) -> bytes:
    """The export of a ledger."""
    export = io.BytesIO()
    with LedgerAdmin.open(path) as admin:
        admin.export(export)
    return export.getvalue()


def test_an_import_migrates_an_empty_one_if_it_succeeds(
    empty: Path, tmp_path: Path, foreign: Foreign
) -> None:
    """With all that it then holds, closings included."""
    export = export_of(restore(LEDGERS[1], tmp_path / "source.db"))
    before = definitions(foreign(empty)), all_rows_of_version_1(foreign(empty))
    with LedgerAdmin.open(empty) as admin:
        assert admin.verify().findings == ()
        with pytest.raises(InvalidExport):
            admin.import_(io.BytesIO(export[:-10]))
        assert (definitions(foreign(empty)), all_rows_of_version_1(foreign(empty))) == before
        checkpoint = admin.import_(io.BytesIO(export))
        assert admin.verify(checkpoint).findings == ()
    assert version(foreign(empty)) == NEWEST
    assert export_of(empty) == export
    assert len(all_rows(foreign(empty))["closed_instances"]) == 2


def test_an_import_leaves_alone_what_has_the_name_of_something_new(
    empty: Path, path: Path, foreign: Foreign
) -> None:
    export = export_of(path)
    foreign(empty).execute("CREATE TABLE closed_instances (what TEXT)")
    before = definitions(foreign(empty)), all_rows_of_version_1(foreign(empty))
    with LedgerAdmin.open(empty) as admin:
        with pytest.raises(NotALedger, match="closed_instances"):
            admin.import_(io.BytesIO(export))
        assert admin.verify().findings == ()
    assert (definitions(foreign(empty)), all_rows_of_version_1(foreign(empty))) == before


def all_rows_of_version_1(connection: sqlite3.Connection) -> object:
    """Everything in its tables, the identity included."""
    meta = connection.execute("SELECT * FROM resolution_ledger_meta").fetchall()
    return meta, tables_of_version_1(connection)


@pytest.fixture
def newer(path: Path, open_ledger: OpenLedger) -> Path:
    """One that a version to come has migrated from version 1."""
    with newer_version(), open_ledger() as ledger:
        ledger.create()
    return path


ALL_CALLS = CALLERS_CALLS | {name: write for name, (write, _) in FIRST_WRITES.items()}


@pytest.mark.parametrize("call", ALL_CALLS.values(), ids=ALL_CALLS)
def test_one_of_a_version_to_come_is_neither_read_nor_written(
    newer: Path, open_ledger: OpenLedger, call: Callable[[ResolutionLedger], object]
) -> None:
    """Nobody knows what it says."""
    assert newer
    with pytest.raises(SchemaTooNew) as error:
        call(open_ledger())
    assert (error.value.found, error.value.known) == (NEWEST + 1, NEWEST)
