"""Backups put back, as docs/operating.md says it, and what comes of doing it otherwise."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inside import OpenLedger
from integration.dying import leave_a_wal
from resolution_ledger import LedgerAdmin, Lost, Replayed, ResolutionLedger, StoreUnavailable, Won
from samples import WORKSPACE, instance, record, response


def back_up(path: Path, place: Path) -> None:
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as source,
        closing(sqlite3.connect(place)) as copy,
    ):
        source.backup(copy)


def test_a_copy_by_sqlite_has_what_is_in_the_wal_and_disturbs_nobody(
    open_ledger: OpenLedger, path: Path, tmp_path: Path
) -> None:
    ledger = open_ledger()
    for n in range(50):
        ledger.resolve(record(n, 1, 1))
    assert Path(f"{path}-wal").stat().st_size
    back_up(path, tmp_path / "backup.db")
    assert ledger.resolve(record(50, 1, 1)) == Won()
    with LedgerAdmin.open(tmp_path / "backup.db") as backup, LedgerAdmin.open(path) as admin:
        assert backup.verify().clean
        assert len([*backup.attempts()]) == 50
        assert admin.verify(backup.checkpoint()).clean


def test_what_goes_on_after_a_restore_is_told_once_and_then_decides_in_the_older_copy(
    open_ledger: OpenLedger, path: Path, tmp_path: Path
) -> None:
    """So whoever restores stops it first."""
    ledger = open_ledger()
    ledger.resolve(record(0, 1, 1))
    back_up(path, tmp_path / "backup.db")
    assert ledger.resolve(record(1, 1, 1)) == Won()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.db", path)
    with pytest.raises(StoreUnavailable, match="replaced"):
        ledger.resolve(record(1, 2, 2))
    assert ledger.resolve(record(1, 2, 2)) == Won(), "for the second time"
    assert ledger.resolve(record(0, 1, 1)) == Replayed(response(1), own=True)


def test_a_wal_that_is_left_beside_an_older_database_is_taken_for_its_own(
    path: Path, tmp_path: Path
) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(90, 1, 1))
    shutil.copy(path, tmp_path / "backup.db")
    leave_a_wal(path, 3)
    shutil.copy(tmp_path / "backup.db", path)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        assert ledger.winner(instance(2)) is not None, "which the backup knows nothing of"


def test_a_database_without_its_wal_lacks_what_was_acknowledged_and_a_checkpoint_shows_it(
    path: Path, tmp_path: Path
) -> None:
    leave_a_wal(path, 3)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(3, 1, 1))
    leave_a_wal(path, 20)
    moved = tmp_path / "moved.db"
    shutil.copy(path, moved)
    with LedgerAdmin.open(path) as admin:
        checkpoint = admin.checkpoint()
    with LedgerAdmin.open(moved) as admin:
        assert admin.verify().clean
        (finding,) = admin.verify(checkpoint).findings
        assert (finding.kind, finding.found) == ("checkpoint", "4 events")


@pytest.mark.parametrize("how", ["moved", "emptied"])
def test_a_wal_whose_database_has_gone_stays_and_nothing_is_decided_beside_it(
    path: Path, tmp_path: Path, how: str
) -> None:
    """SQLite would remove it, and what was acknowledged would be won again."""
    leave_a_wal(path, 3)
    shutil.copy(path, tmp_path / "aside.db")
    path.unlink()
    if how == "emptied":
        path.touch()
    log = Path(f"{path}-wal").read_bytes()
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        with pytest.raises(StoreUnavailable, match="has gone" if how == "emptied" else "no such"):
            ledger.winner(instance(0))
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="has gone"):
                ledger.resolve(record(0, 2, 2))
        with pytest.raises(StoreUnavailable, match="has gone"):
            ledger.create()
        assert Path(f"{path}-wal").read_bytes() == log
        shutil.copy(tmp_path / "aside.db", path)
        assert ledger.resolve(record(0, 2, 2)) == Lost(response(1)), "as soon as it is back"


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_a_log_that_was_left_is_not_taken_for_that_of_an_import(
    path: Path, tmp_path: Path, suffix: str
) -> None:
    with ResolutionLedger.open(tmp_path / "other.db", workspace=WORKSPACE) as other:
        other.resolve(record(90, 1, 1))
    with LedgerAdmin.open(tmp_path / "other.db") as admin, open(tmp_path / "b", "wb") as file:
        admin.export(file)
    leave_a_wal(path, 3)
    path.unlink()
    os.rename(f"{path}-wal", f"{path}{suffix}")
    before = sorted(os.listdir(path.parent))
    with (
        LedgerAdmin.open(path) as admin,
        open(tmp_path / "b", "rb") as file,
        pytest.raises(StoreUnavailable, match="has gone"),
    ):
        admin.import_(file)
    assert sorted(os.listdir(path.parent)) == before
