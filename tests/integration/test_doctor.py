"""``LedgerAdmin.examine``: what is to be said of a ledger's surroundings, changing nothing."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from inside import OpenLedger, files_in
from integration import limited
from integration.dying import leave_a_wal
from integration.migrations import newer_version
from integration.old_ledgers import LEDGERS, restore
from integration.one_row_program import make_table, row
from integration.tampering import make_ledger
from processes import ledger_id, run_alone
from resolution_ledger import (
    Examination,
    LedgerAdmin,
    LedgerClosed,
    NotALedger,
    Observation,
    ResolutionLedger,
    StoreUnavailable,
)
from resolution_ledger.infra import mounts
from resolution_ledger.infra.health import Subject
from resolution_ledger.infra.sqlite import surroundings, wal
from samples import WORKSPACE, instance, record, response

LENGTH = 30


def examined(path: Path, *, check: bool = True) -> Examination:
    with LedgerAdmin.open(path) as admin:
        return admin.examine(check=check)


def of(examination: Examination, subject: Subject) -> list[Observation]:
    return [seen for seen in examination.observations if seen.subject == subject]


def warned(path: Path) -> list[tuple[str, str]]:
    """Subject and advice of each warning."""
    return [(seen.subject, str(seen.advice)) for seen in examined(path).warnings]


@pytest.fixture
def there(path: Path) -> Path:
    make_ledger(path, LENGTH)
    return path


@pytest.fixture
def on_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the tests run."""
    listed = "1 0 8:1 / / rw,relatime - ext4 /dev/vda rw"
    monkeypatch.setattr(mounts, "read_mounts", lambda: listed)


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


# What is no ledger, or is none any more


def test_where_there_is_no_file_none_appears(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no such file"):
        examined(path)
    assert files_in(path.parent) == {}


def test_what_is_no_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="ordinary"):
        examined(tmp_path)


def test_after_the_close_nothing_is_examined(there: Path) -> None:
    admin = LedgerAdmin.open(there)
    admin.close()
    with pytest.raises(LedgerClosed):
        admin.examine()


def nonsense(path: Path) -> None:
    path.write_bytes(b"something else " * 1000)


def nothing(path: Path) -> None:
    path.touch()


def someone_elses(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def one_row_table(path: Path) -> None:
    make_table(path, [row(1, 1, 1, 0)])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (nonsense, "NotALedger"),
        (nothing, "NotALedger"),
        (someone_elses, "NotALedger"),
        (one_row_table, "NotAdopted"),
    ],
)
def test_what_is_no_ledger_is_named_and_left_alone(
    path: Path, make: Callable[[Path], None], error: str
) -> None:
    make(path)
    before = files_in(path.parent)
    assert ("ledger", error) in [(a, b.partition(":")[0]) for a, b in warned(path)]
    assert files_in(path.parent) == before


@pytest.mark.parametrize("place", range(0, 40_000, 1111))
def test_damage_anywhere_is_named_and_never_a_failure(there: Path, place: int) -> None:
    damaged = bytearray(there.read_bytes())
    damaged[place : place + 300] = b"\xa5" * len(damaged[place : place + 300])
    there.write_bytes(damaged)
    before = files_in(there.parent)
    examination = examined(there)
    assert examination.observations
    assert files_in(there.parent) == before


def test_damage_in_a_wal_is_no_failure_and_is_left_as_it_is(path: Path, tmp_path: Path) -> None:
    leave_a_wal(path, 5)
    sound = Path(f"{path}-wal").read_bytes()
    aside = tmp_path / "aside"
    aside.mkdir()
    place, beside = aside / path.name, aside / f"{path.name}-wal"
    for start in range(0, len(sound), 997):
        for damaged in (sound[:start], sound[:start] + b"\xa5" * 40 + sound[start + 40 :]):
            shutil.copy(path, place)
            beside.write_bytes(damaged)
            assert examined(place).observations
            assert beside.read_bytes() == damaged
            assert place.read_bytes() == path.read_bytes()
            Path(f"{place}-shm").unlink(missing_ok=True)


def test_a_damaged_page_is_found_by_the_check_and_not_without_it(there: Path) -> None:
    size = 4096
    damaged = bytearray(there.read_bytes())
    with closing(sqlite3.connect(there)) as connection:
        ((page,),) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'losing_attempts'"
        )
    damaged[(page - 1) * size : page * size] = bytes(size)
    there.write_bytes(damaged)
    assert {subject for subject, _ in warned(there)} == {"check"}
    assert examined(there, check=False).warnings == ()


def test_a_file_that_was_cut_is_named(there: Path) -> None:
    there.write_bytes(there.read_bytes()[:20_000])
    assert {"ledger", "check"} & {subject for subject, _ in warned(there)}


def test_a_newer_schema_is_named(there: Path) -> None:
    with newer_version(), ResolutionLedger.open(there, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(99, 1, 1))
    (seen,) = examined(there).warnings
    assert (seen.subject, seen.found) == ("schema version", 3)
    assert "SchemaTooNew" in str(seen.advice)


def test_an_older_schema_is_told_and_stays(path: Path) -> None:
    restore(LEDGERS[0], path)
    before = files_in(path.parent)
    (seen,) = of(examined(path), "schema version")
    assert (seen.found, seen.level) == (1, "note")
    assert files_in(path.parent) == before


# Where it is


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


# The gate


def gate_of(path: Path) -> Path:
    return Path(f"{path}-gate")


def test_a_gate_that_nobody_has_needed_yet_is_not_made(there: Path) -> None:
    (seen,) = of(examined(there), "gate")
    assert (seen.found, seen.level) == ("not made yet", "fine")
    assert not gate_of(there).exists()


@pytest.mark.parametrize("taken", [True, False], ids=["taken", "free"])
def test_a_gate_that_works_is_left_to_those_who_use_it(there: Path, *, taken: bool) -> None:
    gate_of(there).touch()
    with gate_of(there).open("rb") as file:
        if taken:
            fcntl.flock(file, fcntl.LOCK_EX)
        (seen,) = of(examined(there), "gate")
        assert (seen.found, seen.level) == ("there", "fine")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it was given back


def test_something_else_in_the_place_of_the_gate_is_warned_of(there: Path) -> None:
    gate_of(there).write_text("x")
    assert [subject for subject, _ in warned(there)] == ["gate"]
    gate_of(there).unlink()
    gate_of(there).symlink_to(there)
    assert [subject for subject, _ in warned(there)] == ["gate"]
    gate_of(there).unlink()
    gate_of(there).touch()
    gate_of(there).with_name("another name").hardlink_to(gate_of(there))
    assert [subject for subject, _ in warned(there)] == ["gate"]


def test_a_file_system_without_such_locks_is_warned_of(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(surroundings.fcntl, "flock", no_locks)
    ((subject, advice),) = warned(there)
    assert subject == "gate"
    assert "No locks available" in advice


def test_a_system_without_such_locks_is_noted(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "_NO_LOCKS", True)
    (seen,) = of(examined(there), "gate")
    assert seen.level == "note"


# Whoever else uses the database


def test_a_build_with_a_fault_is_warned_of_where_others_have_tables(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    assert of(examined(there), "sqlite")[0].level == "note"
    with closing(sqlite3.connect(there)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    assert of(examined(there), "sqlite")[0].level == "warning"


def test_what_was_examined_can_be_used_at_once(there: Path) -> None:
    """The look leaves no lock, no connection and no refusal behind."""
    with (
        LedgerAdmin.open(there) as admin,
        ResolutionLedger.open(there, workspace=WORKSPACE) as ledger,
    ):
        for n in range(100, 103):
            admin.examine()
            ledger.resolve(record(n, 1, 1))
            assert ledger.winner(instance(n)) == response(1)
    descriptors = Path("/proc/self/fd")
    if descriptors.exists():
        assert str(there) not in {os.path.realpath(name) for name in descriptors.iterdir()}


def test_the_page_on_operating_has_a_line_for_each_subject() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
    for subject in get_args(Subject):
        assert f"\n| `{subject}` | " in page
