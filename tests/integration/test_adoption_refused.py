"""What is not adopted, and what happens before somebody adopts: nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from inside import OpenLedger, files_in
from integration import one_row_program
from integration.one_row_program import ONE_ROW_TABLE
from integration.rebuilders import fill, open_admin
from resolution_ledger import (
    LedgerAdmin,
    NotAdopted,
    NotALedger,
    NothingToAdopt,
    ResolutionLedger,
    StoreError,
    Won,
)
from samples import WORKSPACE, instance, record

Foreign = Callable[..., sqlite3.Connection]

GOOD = [one_row_program.row(i, 1, 1, i) for i in range(10)]


@pytest.fixture(params=one_row_program.FORMS.values(), ids=one_row_program.FORMS)
def path(request: pytest.FixtureRequest, path: Path) -> Path:
    """Where the database of an older program is."""
    one_row_program.make_table(path, GOOD, request.param)
    return path


def exported() -> BytesIO:
    """Another ledger, to be imported."""
    file = BytesIO()
    with LedgerAdmin.open(":memory:") as admin:
        admin.export(file)
    file.seek(0)
    return file


CALLS: dict[str, Callable[[ResolutionLedger], object]] = {
    "resolve": lambda ledger: ledger.resolve(record(0, 1, 1)),
    "winner": lambda ledger: ledger.winner(instance(0)),
    "history": lambda ledger: ledger.history(instance(0)),
    "losers": lambda ledger: ledger.losers(),
}

OPERATORS_CALLS: dict[str, Callable[[LedgerAdmin], object]] = {
    "attempts": lambda admin: list(admin.attempts()),
    "history": lambda admin: admin.history(instance(0)),
    "resolution": lambda admin: admin.resolution(instance(0)),
    "state_at": lambda admin: list(admin.state_at(0)),
    "contested": lambda admin: admin.contested(),
    "verify": lambda admin: admin.verify(),
    "rebuild": lambda admin: admin.rebuild(),
    "checkpoint": lambda admin: admin.checkpoint(),
    "export": lambda admin: admin.export(BytesIO()),
    "import_": lambda admin: admin.import_(exported()),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_until_it_is_adopted_nothing_is_decided_or_answered(
    path: Path, tmp_path: Path, call: Callable[[ResolutionLedger], object]
) -> None:
    before = files_in(tmp_path)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        for _ in range(2):
            with pytest.raises(NotAdopted, match="adopt") as error:
                call(ledger)
            assert isinstance(error.value, NotALedger)
            assert not error.value.outcome_unknown
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("call", OPERATORS_CALLS.values(), ids=OPERATORS_CALLS)
def test_until_it_is_adopted_an_operator_can_do_nothing_else(
    path: Path, tmp_path: Path, call: Callable[[LedgerAdmin], object]
) -> None:
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(NotAdopted, match="adopt"):
        call(admin)
    assert files_in(tmp_path) == before


def test_a_ledger_object_that_was_refused_works_once_somebody_has_adopted(
    path: Path, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger()
    with pytest.raises(NotAdopted):
        ledger.resolve(record(50, 1, 1))
    with open_admin(path) as admin:
        with pytest.raises(NotAdopted):
            admin.checkpoint()
        admin.adopt()
        assert admin.verify().clean
    assert ledger.resolve(record(50, 1, 1)) == Won()


def test_adopting_twice_is_refused_and_changes_nothing(path: Path, tmp_path: Path) -> None:
    with open_admin(path) as admin:
        admin.adopt()
    before = files_in(tmp_path)
    with open_admin(path) as admin:
        for _ in range(2):
            with pytest.raises(NothingToAdopt):
                admin.adopt()
    assert files_in(tmp_path) == before
    with open_admin(path) as admin:
        assert len(list(admin.attempts())) == len(GOOD)


def test_where_there_is_no_file_none_is_made(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with open_admin(empty / "ledger.db") as admin, pytest.raises(StoreError):
        admin.adopt()
    assert files_in(empty) == {}


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Where a ledger is that was never anything else."""
    fill(tmp_path / "filled.db", range(3))
    return tmp_path / "filled.db"


def test_a_ledger_is_not_adopted(filled: Path, tmp_path: Path) -> None:
    before = files_in(tmp_path)
    with open_admin(filled) as admin, pytest.raises(NothingToAdopt):
        admin.adopt()
    assert files_in(tmp_path) == before


def test_neither_is_one_in_memory() -> None:
    with LedgerAdmin.open(":memory:") as admin, pytest.raises(NothingToAdopt):
        admin.adopt()


OTHERS = {
    "nothing": (NothingToAdopt, ""),
    "another table": (NothingToAdopt, "CREATE TABLE theirs (what)"),
    "one column more": (NotALedger, ONE_ROW_TABLE.replace("INTEGER NOT NULL", "INTEGER, more")),
    "one column more, generated": (
        NotALedger,
        ONE_ROW_TABLE.replace("INTEGER NOT NULL", "INTEGER NOT NULL, more AS (resolved_tick + 1)"),
    ),
    "one column less": (
        NotALedger,
        ONE_ROW_TABLE.replace("idempotency_key TEXT NOT NULL,", ""),
    ),
    "a column of another name": (NotALedger, ONE_ROW_TABLE.replace("response_id", "answer")),
    "a column of another type": (NotALedger, ONE_ROW_TABLE.replace("INTEGER", "REAL")),
    "a column that may be NULL": (NotALedger, ONE_ROW_TABLE.replace("INTEGER NOT NULL", "INTEGER")),
    "a column with a default": (
        NotALedger,
        ONE_ROW_TABLE.replace("INTEGER NOT NULL", "INTEGER NOT NULL DEFAULT 0"),
    ),
    "another order of columns": (
        NotALedger,
        """
        CREATE TABLE interaction_resolutions (
            workspace_key TEXT NOT NULL,
            instance_id TEXT PRIMARY KEY,
            response_id TEXT NOT NULL,
            idempotency_key TEXT NOT NULL,
            resolved_tick INTEGER NOT NULL
        )
        """,
    ),
    "no key": (NotALedger, ONE_ROW_TABLE.replace("PRIMARY KEY", "NOT NULL")),
    "another key": (
        NotALedger,
        ONE_ROW_TABLE.replace("PRIMARY KEY", "NOT NULL").replace(
            "response_id TEXT NOT NULL", "response_id TEXT PRIMARY KEY"
        ),
    ),
    "a key of two columns": (
        NotALedger,
        ONE_ROW_TABLE.replace(" PRIMARY KEY", "").replace(
            "INTEGER NOT NULL", "INTEGER NOT NULL, PRIMARY KEY (instance_id, workspace_key)"
        ),
    ),
    "a view": (
        NotALedger,
        """
        CREATE VIEW interaction_resolutions AS
            SELECT 'i' AS instance_id, 'w' AS workspace_key, 'r' AS response_id,
                   'k' AS idempotency_key, 0 AS resolved_tick
        """,
    ),
    "an older table beside a table of our names": (
        NotALedger,
        f"{ONE_ROW_TABLE}; CREATE TABLE losing_attempts (what)",
    ),
    "an older table beside one that closings would have": (
        NotALedger,
        f"{ONE_ROW_TABLE}; CREATE TABLE closed_instances (what)",
    ),
    "an older table beside an index of our names": (
        NotALedger,
        f"{ONE_ROW_TABLE}; CREATE TABLE a (x); CREATE INDEX resolution_events_closing ON a (x)",
    ),
    "an older table in UTF-16": (NotALedger, f"PRAGMA encoding = 'UTF-16'; {ONE_ROW_TABLE}"),
}


@pytest.mark.parametrize(("error", "script"), OTHERS.values(), ids=OTHERS)
def test_a_database_with_anything_else_is_left_as_it_is(
    tmp_path: Path, error: type[StoreError], script: str
) -> None:
    path = tmp_path / "other.db"
    path.touch()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(StoreError) as caught:
        admin.adopt()
    assert type(caught.value) is error
    assert files_in(tmp_path) == before


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(b"all work and no play " * 1000)
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(NotALedger):
        admin.adopt()
    assert files_in(tmp_path) == before
