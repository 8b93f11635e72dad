"""Databases of other programs, and ledgers of versions that there are none of, are left alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from inside import files_in
from integration.sweeping import make_ledger
from property.damage import told
from property.test_bad_files import more
from resolution_ledger import LedgerAdmin, ResolutionLedger, Won
from resolution_ledger.infra.sqlite.schema import TABLES
from samples import WORKSPACE, instance, record

COLUMNS = (
    "instance_id TEXT",
    "workspace_key TEXT NOT NULL",
    "response_id",
    "sequence INTEGER",
    "originator_id TEXT NOT NULL",
    "originator_version INTEGER NOT NULL",
    "state BLOB",
    "schema_version INTEGER",
    "ledger_id TEXT",
    "more REAL DEFAULT 1.5",
    "made AS (1 + 1)",
)

CALLS: dict[str, Callable[[Path], object]] = {
    "winner": lambda path: _caller(path, lambda ledger: ledger.winner(instance(1))),
    "history": lambda path: _caller(path, lambda ledger: ledger.history(instance(1))),
    "losers": lambda path: _caller(path, lambda ledger: ledger.losers()),
    "create": lambda path: _caller(path, lambda ledger: ledger.create()),
    "resolve": lambda path: _caller(path, lambda ledger: ledger.resolve(record(1, 1, 1))),
    "verify": lambda path: _operator(path, lambda admin: admin.verify().count),
    "attempts": lambda path: _operator(path, lambda admin: len([*admin.attempts()])),
    "rebuild": lambda path: _operator(path, lambda admin: admin.rebuild().count),
    "adopt": lambda path: _operator(path, lambda admin: admin.adopt()),
}


def _caller(path: Path, call: Callable[[ResolutionLedger], object]) -> object:
    with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=1) as ledger:
        return told(call, ledger)


def _operator(path: Path, call: Callable[[LedgerAdmin], object]) -> object:
    with LedgerAdmin.open(path, lock_timeout=1) as admin:
        return told(call, admin)


@st.composite
def parts(draw: st.DrawFn) -> list[str]:
    """Statements that make somebody's tables and views, some of them under our names."""
    names = draw(
        st.lists(st.sampled_from([*TABLES, "theirs", "notes"]), min_size=1, unique=True, max_size=4)
    )
    statements = [f"PRAGMA encoding = '{draw(st.sampled_from(['UTF-8', 'UTF-8', 'UTF-16']))}'"]
    for name in names:
        columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True, max_size=5))
        kind = draw(st.sampled_from(["table", "table", "keyed", "view"]))
        if kind == "view":
            statements.append(f"CREATE VIEW {name} AS SELECT 1 AS one, 'x' AS instance_id")
            continue
        columns = [f"id {draw(st.sampled_from(['TEXT', 'INTEGER']))} PRIMARY KEY", *columns]
        statements.append(f"CREATE TABLE {name} ({', '.join(columns)})")
        if kind == "keyed":
            statements.append(f"CREATE INDEX by_id_of_{name} ON {name} (id)")
        if draw(st.booleans()):
            statements.append(
                f"CREATE TRIGGER on_{name} AFTER DELETE ON {name} BEGIN SELECT 1; END"
            )
    return statements


def content(path: Path, *, ours: bool) -> list[object]:
    """The schema and all rows: of everything, or of what does not bear our names."""
    with closing(sqlite3.connect(path)) as connection:
        schema = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master"
        ).fetchall()
        wanted = [part for part in schema if ours or part[2] not in TABLES]
        tables = [part[1] for part in wanted if part[0] == "table"]
        rows = [connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables]  # noqa: S608
    return [wanted, rows]


@more
@given(parts(), st.sampled_from([*CALLS]), st.sampled_from(["delete", "wal"]))
def test_a_database_of_another_program_is_never_changed_but_by_a_ledger_beside_its_tables(
    statements: list[str], call: str, journal: str
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "theirs.db")
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(";".join(statements))
            connection.execute(f"PRAGMA journal_mode = {journal}")
        names = {part[1] for part in content(path, ours=True)[0]}  # type: ignore[attr-defined]
        before, theirs = files_in(path.parent), content(path, ours=False)
        answer = CALLS[call](path)
        if answer == Won() or (call == "create" and answer is None):
            assert not names & set(TABLES)
            assert content(path, ours=False) == theirs
        else:
            assert isinstance(answer, type)
            assert files_in(path.parent) == before


@more
@given(
    st.sampled_from([*CALLS]),
    st.one_of(
        st.integers(3, 2**63 - 1), st.integers(-5, 0), st.sampled_from(["2", "x", 2.5, b"2"])
    ),
)
def test_a_ledger_of_a_version_that_is_not_known_is_left_alone(call: str, version: object) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "ledger.db")
        make_ledger(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("UPDATE resolution_ledger_meta SET schema_version = ?", (version,))
            ((stored,),) = connection.execute("SELECT schema_version FROM resolution_ledger_meta")
        before = files_in(path.parent)
        answer = CALLS[call](path)
        if stored != 2 or type(stored) is not int:
            assert isinstance(answer, type)
            assert files_in(path.parent) == before
