"""Whoever only reads a ledger of an older version reads it as it is."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from inside import OpenLedger, definitions, files_in
from integration.closers import close_at_once
from integration.migrations import version
from integration.old_ledgers import (
    CALLERS_CALLS,
    FIRST_WRITES,
    IN_VAIN,
    NEWEST,
    OPERATORS_CALLS,
    VERSION_1,
    restore,
    tables_of_version_1,
)
from processes import PATIENCE, run_alone
from resolution_ledger import Closed, LedgerAdmin, NotALedger, ResolutionLedger, Withdrawn
from samples import instance, record

Foreign = Callable[..., sqlite3.Connection]


@pytest.fixture(params=["delete", "wal"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A ledger of version 1, in either of the modes that its file can be in."""
    return restore(VERSION_1, tmp_path / "ledger.db", journal=request.param)


@pytest.mark.parametrize("call", CALLERS_CALLS.values(), ids=CALLERS_CALLS)
def test_a_caller_who_only_reads_leaves_the_file_as_it_was(
    path: Path, open_ledger: OpenLedger, call: Callable[[ResolutionLedger], object]
) -> None:
    """To the byte, and learns what there is to learn."""
    before = files_in(path.parent)
    with open_ledger() as ledger:
        for _ in range(2):
            assert call(ledger)
    assert files_in(path.parent) == before


@pytest.mark.parametrize("call", OPERATORS_CALLS.values(), ids=OPERATORS_CALLS)
def test_an_operator_who_only_reads_leaves_the_file_as_it_was(
    path: Path, call: Callable[[LedgerAdmin], object]
) -> None:
    """Also a rebuild that has nothing to mend."""
    before = files_in(path.parent)
    with LedgerAdmin.open(path) as admin:
        for _ in range(2):
            assert call(admin)
    assert files_in(path.parent) == before


def test_what_is_exported_of_it_is_a_ledger_of_the_newest_version_where_it_is_imported(
    path: Path, tmp_path: Path, foreign: Foreign
) -> None:
    export = io.BytesIO()
    with LedgerAdmin.open(path) as old, LedgerAdmin.open(tmp_path / "new.db") as new:
        checkpoint = old.export(export)
        export.seek(0)
        assert new.import_(export) == checkpoint
        assert new.verify(checkpoint).clean
        assert [*new.attempts()] == [*old.attempts()]
    assert (version(foreign()), version(foreign(tmp_path / "new.db"))) == (1, NEWEST)


TAKEN = {
    "a table": "CREATE TABLE closed_instances (what TEXT)",
    "a table in capitals": "CREATE TABLE CLOSED_INSTANCES (what TEXT)",
    "a view": "CREATE VIEW closed_instances AS SELECT 1 AS what",
    "an index of the table's name": "CREATE INDEX closed_instances ON losing_attempts (position)",
    "an index": "CREATE INDEX resolution_events_closing ON losing_attempts (position)",
    "a table of the index's name": "CREATE TABLE resolution_events_closing (what TEXT)",
    "a table that looks like ours": """
        CREATE TABLE closed_instances (
            instance_id TEXT PRIMARY KEY NOT NULL,
            workspace_key TEXT NOT NULL,
            reason TEXT NOT NULL,
            submitted_by TEXT NOT NULL,
            closed_tick INTEGER NOT NULL
        ) WITHOUT ROWID
    """,
}


@pytest.mark.parametrize("theirs", TAKEN.values(), ids=TAKEN)
def test_what_has_the_name_of_something_new_is_not_adopted_and_keeps_nobody_from_reading(
    path: Path, open_ledger: OpenLedger, foreign: Foreign, theirs: str
) -> None:
    """It was no name of ours when it was given. Nothing is changed."""
    connection = foreign()
    connection.execute(theirs)
    before = definitions(connection), tables_of_version_1(connection)
    with open_ledger() as ledger:
        for write, _ in FIRST_WRITES.values():
            if write is FIRST_WRITES["a retransmission"][0]:
                continue  # it need not write
            with pytest.raises(NotALedger, match="something else of the name"):
                write(ledger)
        assert all(call(ledger) for call in CALLERS_CALLS.values())
    with LedgerAdmin.open(path) as admin:
        assert all(call(admin) for call in OPERATORS_CALLS.values())
    assert (definitions(connection), tables_of_version_1(connection)) == before
    assert version(connection) == 1


def test_a_database_of_others_is_no_ledger_because_of_a_name(tmp_path: Path) -> None:
    """Whoever reads it or writes there is told so."""
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(TAKEN["a table that looks like ours"])
    before = files_in(tmp_path)
    with ResolutionLedger.open(path, workspace="ws-1") as ledger:
        for call in (lambda: ledger.winner(instance(1)), ledger.create):
            with pytest.raises(NotALedger, match="closed_instances"):
                call()
    assert files_in(tmp_path) == before


@pytest.fixture
def readers(path: Path, open_ledger: OpenLedger) -> Iterator[tuple[ResolutionLedger, LedgerAdmin]]:
    """Both doors, each with a connection that has read what version 1 wrote."""
    ledger = open_ledger()
    with LedgerAdmin.open(path) as admin:
        assert all(call(ledger) for call in CALLERS_CALLS.values())
        assert all(call(admin) for call in OPERATORS_CALLS.values())
        yield ledger, admin


def test_who_has_it_open_goes_on_reading_when_another_process_migrates_it(
    path: Path, readers: tuple[ResolutionLedger, LedgerAdmin], foreign: Foreign
) -> None:
    """And sees what has been written since."""
    ledger, admin = readers
    begun = admin.attempts()
    assert next(begun).sequence == 1
    assert run_alone(close_at_once, [str(path)]) == [Withdrawn()]
    assert version(foreign()) == NEWEST
    assert all(call(ledger) for call in CALLERS_CALLS.values() if call is not IN_VAIN)
    assert ledger.wait(instance(9), PATIENCE) == Closed("expired")
    assert ledger.resolve(record(9, 1, 1)) == Closed("expired")
    assert [attempt.sequence for attempt in begun] == [*range(2, 9)]
    assert admin.verify().findings == ()
    assert admin.rebuild().clean
    assert [attempt.outcome for attempt in admin.state_at(8)] == ["won", "won", "closed"]
    assert [attempt.outcome for attempt in admin.history(instance(9))] == ["closed", "late"]
