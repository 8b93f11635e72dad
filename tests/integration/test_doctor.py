"""``LedgerAdmin.examine``: what is to be said of a ledger, changing nothing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest

from inside import OpenLedger, files_in
from integration.dying import leave_a_wal
from integration.examined import LENGTH, examined, of
from integration.old_ledgers import LEDGERS, restore
from processes import ledger_id
from resolution_ledger import (
    LedgerAdmin,
)
from resolution_ledger.infra.health import Subject
from samples import record

pytestmark = pytest.mark.usefixtures("on_a_disk")


def test_of_a_sound_ledger_every_subject_is_told_and_no_warning(there: Path) -> None:
    examination = examined(there)
    assert [seen.subject for seen in examination.observations] == [*get_args(Subject)]
    assert examination.warnings == ()
    found = {seen.subject: seen.found for seen in examination.observations}
    assert found["sqlite"] == sqlite3.sqlite_version
    assert found["file"] == there.stat().st_size
    assert found["file system"] == "ext4 at /"
    assert found["ledger"] == ledger_id(str(there))
    assert found["events"] == LENGTH
    assert found["check"] == "ok"


def test_it_changes_nothing_in_a_ledger_that_was_closed(there: Path) -> None:
    before = files_in(there.parent)
    examined(there)
    assert files_in(there.parent) == before


def test_a_wal_that_a_killed_process_left_is_read_and_left_as_it_is(path: Path) -> None:
    leave_a_wal(path, 3)
    before = files_in(path.parent)
    assert of(examined(path), "events")[0].found == 3
    after = files_in(path.parent)
    shared = "ledger.db-shm"  # an index of the other file, which every reader keeps
    assert before.pop(shared)
    assert after.pop(shared)
    assert after == before


def test_it_leaves_a_database_in_its_journal_mode(path: Path) -> None:
    restore(LEDGERS[-1], path, journal="delete")
    before = files_in(path.parent)
    (mode,) = of(examined(path), "journal mode")
    assert (mode.found, mode.level) == ("delete", "note")
    assert files_in(path.parent) == before


def test_a_transaction_that_was_interrupted_is_named_and_not_undone(path: Path) -> None:
    """In a database without a WAL there is a journal then, and reading would undo it."""
    restore(LEDGERS[-1], path, journal="delete")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE theirs AS SELECT zeroblob(100000) AS x")
        aside = path.parent / "aside"
        aside.mkdir()
        for name in ("ledger.db", "ledger.db-journal"):
            shutil.copy(path.parent / name, aside / name)
    place = aside / "ledger.db"
    before = files_in(aside)
    examination = examined(place)
    assert files_in(aside) == before
    (other,) = of(examination, "other files")
    assert (other.found, other.level) == (f"{place}-journal", "note")
    assert [seen.subject for seen in examination.warnings] == ["ledger"]


def test_while_others_write_it_waits_for_nobody(there: Path, open_ledger: OpenLedger) -> None:
    ledger = open_ledger(there)
    ledger.resolve(record(77, 1, 1))
    with closing(sqlite3.connect(there, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert of(examined(there), "events")[0].found == LENGTH + 1
        assert examined(there).warnings == ()
    assert ledger.resolve(record(78, 1, 1))


def test_a_database_that_somebody_has_alone_is_told_to_be_busy_and_not_damaged(
    path: Path,
) -> None:
    restore(LEDGERS[-1], path, journal="delete")
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as connection,
        LedgerAdmin.open(path, lock_timeout=0.05) as admin,
    ):
        connection.execute("BEGIN EXCLUSIVE")
        (seen,) = admin.examine().warnings
        assert (seen.subject, str(seen.advice).partition(":")[0]) == ("ledger", "StoreBusy")
        connection.execute("ROLLBACK")
        assert admin.examine().warnings == ()


def test_the_check_can_be_left_out(there: Path) -> None:
    (check,) = of(examined(there, check=False), "check")
    assert (check.found, check.level) == (None, "note")


def test_a_ledger_in_memory_has_no_surroundings() -> None:
    with LedgerAdmin.open(":memory:") as admin:
        examination = admin.examine()
    subjects = [seen.subject for seen in examination.observations]
    assert "file" not in subjects
    assert "ledger" in subjects
    assert examination.warnings == ()
