"""What is said of where a ledger is, and of what lies beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inside import files_in
from integration import limited
from integration.dying import leave_a_wal
from integration.examined import LENGTH, examined, of, warned
from integration.old_ledgers import LEDGERS
from integration.tampering import make_ledger
from processes import run_alone
from resolution_ledger import (
    LedgerAdmin,
    NotALedger,
    ResolutionLedger,
    StoreUnavailable,
)
from resolution_ledger.infra import mounts
from resolution_ledger.infra.sqlite import surroundings, wal
from samples import WORKSPACE, record

pytestmark = pytest.mark.usefixtures("on_a_disk")


def test_a_network_file_system_is_warned_of(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = f"1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 0:9 / {there.parent} rw - nfs4 host:/ rw"
    monkeypatch.setattr(mounts, "read_mounts", lambda: listed)
    (seen,) = examined(there).warnings
    assert (seen.subject, seen.found) == ("file system", f"nfs4 at {there.parent}")


def test_by_whatever_name_it_is_reached_the_file_itself_is_looked_at(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = elsewhere / "link.db"
    link.symlink_to(there)
    listed = f"1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 0:9 / {elsewhere} rw - nfs host:/ rw"
    monkeypatch.setattr(mounts, "read_mounts", lambda: listed)
    assert examined(link).warnings == ()


def test_where_nobody_knows_the_file_system_it_says_so(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "read_mounts", lambda: None)
    (seen,) = of(examined(there), "file system")
    assert (seen.found, seen.level) == (None, "note")


def test_little_space_is_warned_of(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = 4 * wal.USUAL_LENGTH // 128
    for free, expected in ((blocks, []), (blocks - 1, ["free space"])):
        usage = SimpleNamespace(f_bavail=free, f_bfree=blocks * 2, f_frsize=128, f_bsize=4096)
        monkeypatch.setattr(os, "statvfs", lambda _, usage=usage: usage)
        assert [subject for subject, _ in warned(there)] == expected


def test_where_nobody_knows_the_free_space_it_says_so(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "_NO_STATVFS", True)
    (seen,) = of(examined(there), "free space")
    assert (seen.found, seen.level) == (None, "note")


def test_a_wal_that_somebody_keeps_from_beginning_anew_is_warned_of(there: Path) -> None:
    beside = Path(f"{there}-wal")
    with beside.open("wb") as file:
        file.truncate(4 * wal.USUAL_LENGTH)
    assert examined(there).warnings == ()
    with beside.open("wb") as file:
        file.truncate(4 * wal.USUAL_LENGTH + 1)
    assert [subject for subject, _ in warned(there)] == ["wal"]


def test_something_else_in_the_place_of_the_wal_is_warned_of(there: Path) -> None:
    Path(f"{there}-wal").mkdir()
    assert {"wal", "ledger"} <= {subject for subject, _ in warned(there)}


def test_something_else_in_the_place_of_the_shm_is_warned_of(there: Path) -> None:
    Path(f"{there}-shm").mkdir()
    assert "other files" in {subject for subject, _ in warned(there)}
    with (
        ResolutionLedger.open(there, workspace=WORKSPACE) as ledger,
        pytest.raises(StoreUnavailable),
    ):
        ledger.resolve(record(99, 1, 1))


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, partial(os.symlink, "nothing")])
def test_beside_what_is_no_file_nobody_looks_and_nothing_is_left(
    there: Path, suffix: str, make: Callable[[str], None]
) -> None:
    """A pipe would never be opened, and beside a link or a folder an empty WAL would stay."""
    make(f"{there}{suffix}")
    before = sorted(os.listdir(there.parent))
    examination = examined(there)
    assert {"ledger", "wal" if suffix == "-wal" else "other files"} <= {
        seen.subject for seen in examination.warnings
    }
    assert sorted(os.listdir(there.parent)) == before


def test_a_wal_beside_an_emptied_database_is_named_and_left_as_it_is(path: Path) -> None:
    """To read there would remove it, and with it all that was committed."""
    leave_a_wal(path, 3)
    os.truncate(path, 0)
    before = files_in(path.parent)
    (ledger,) = of(examined(path), "ledger")
    assert ledger.level == "warning"
    assert "has gone" in str(ledger.advice)
    assert files_in(path.parent) == before


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("asked", ["lstat", "access"])
def test_what_goes_while_it_is_looked_at_is_nobodys_fault(
    there: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, asked: str
) -> None:
    """Whoever closes a ledger last removes what was beside it."""
    ask = getattr(os, asked)

    def ask_too_late(path: str, *options: Any, **more: Any) -> Any:
        if str(path) == f"{there}{suffix}":
            Path(path).unlink(missing_ok=True)
        return ask(path, *options, **more)

    Path(f"{there}{suffix}").touch()
    monkeypatch.setattr(os, asked, ask_too_late)
    monkeypatch.setattr(os, "supports_effective_ids", {ask_too_late})
    assert examined(there).warnings == ()


def test_hard_links_are_warned_of(there: Path, tmp_path: Path) -> None:
    (tmp_path / "second.db").hardlink_to(there)
    assert [subject for subject, _ in warned(there)] == ["names"]


def test_what_a_killed_import_has_left_is_named_and_no_second_name(there: Path) -> None:
    left = Path(f"{there}.unfinished-0123")
    left.hardlink_to(there)
    examination = examined(there)
    assert examination.warnings == ()
    assert [(seen.found, seen.level) for seen in of(examination, "other files")] == [
        (str(left), "note")
    ]


@pytest.mark.parametrize("what", ["file", "folder", "-wal"])
def test_what_everybody_may_write_to_is_warned_of(path: Path, what: str) -> None:
    leave_a_wal(path)
    place = {"file": path, "folder": path.parent, "-wal": Path(f"{path}-wal")}[what]
    mode = place.stat().st_mode
    place.chmod(mode | 0o002)
    ((subject, advice),) = warned(path)
    assert subject == "access"
    assert str(place) in advice
    place.chmod(mode | 0o1002)  # others' files are safe there, but not the place of the -wal
    assert [subject for subject, _ in warned(path)] == ["access"]


def test_a_link_in_the_place_of_the_wal_says_nothing_of_who_may_write(there: Path) -> None:
    Path(f"{there}-wal").symlink_to(there)
    subjects = [subject for subject, _ in warned(there)]
    assert "wal" in subjects
    assert "access" not in subjects


def test_an_empty_journal_is_of_no_transaction(there: Path) -> None:
    Path(f"{there}-journal").touch()
    (seen,) = of(examined(there), "other files")
    assert (seen.found, seen.level) == (0, "fine")


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_a_ledger_in_another_encoding_is_told_as_every_call_tells_it(
    path: Path, encoding: str
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.executescript(LEDGERS[-1].read_text("utf-8"))
    with pytest.raises(NotALedger) as told, LedgerAdmin.open(path) as admin:
        admin.verify()
    ((subject, advice),) = warned(path)
    assert subject == "ledger"
    assert "NotALedger" in advice
    assert told.value.reason in advice


def test_who_may_only_read_is_told_so_and_leaves_no_file(tmp_path: Path) -> None:
    shared = limited.shared_directory()
    try:
        path = shared / "ledger.db"
        make_ledger(path, LENGTH)
        path.chmod(0o444)
        shared.chmod(0o777)
        before = files_in(shared)
        told = run_alone(limited.examine_without_privileges, str(path))
        assert {"access", "ledger"} <= set(told)
        assert files_in(shared) == before
    finally:
        shutil.rmtree(shared)
    assert tmp_path
