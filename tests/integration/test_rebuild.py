"""What a rebuild tells, and what it leaves alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from inside import Unguarded, all_rows, definitions, files_in
from integration.rebuilders import drop, empty, fill, open_admin
from resolution_ledger import (
    Finding,
    LedgerAdmin,
    NotALedger,
    Progress,
    ResolutionLedger,
    StoreUnavailable,
    Won,
)
from samples import instance, record, response

Foreign = Callable[[], sqlite3.Connection]


@pytest.fixture
def nothing(path: Path) -> Path:
    """Where a ledger without any event is."""
    export = BytesIO()
    with LedgerAdmin.open(":memory:") as empty_one:
        empty_one.export(export)
    export.seek(0)
    with open_admin(path) as admin:
        admin.import_(export)
    return path


@pytest.fixture
def pages(path: Path) -> Path:
    """Where a ledger is that no single page of 1,000 events or rows can hold."""
    fill(path, range(1100))
    return path


@pytest.mark.parametrize("damage", [None, empty, drop], ids=["whole", "emptied", "dropped"])
def test_an_empty_ledger_is_rebuilt_to_an_empty_ledger(
    nothing: Path, foreign: Foreign, damage: Callable[[Path], None] | None
) -> None:
    before = all_rows(foreign()), definitions(foreign())
    if damage is not None:
        damage(nothing)
    with open_admin(nothing) as admin:
        report = admin.rebuild()
        assert (report.length, report.clean) == (0, damage is not drop)
        assert admin.verify().clean
    assert (all_rows(foreign()), definitions(foreign())) == before
    with ResolutionLedger.open(nothing, workspace="ws-1") as ledger:
        assert ledger.resolve(record(1, 1, 1)) == Won()


def test_where_nothing_is_wrong_nothing_is_written(pages: Path, foreign: Foreign) -> None:
    """Not even by the same object that has mended something before."""
    connection = foreign()
    with open_admin(pages) as admin:
        for expected in (0, 2200, 0, 0):
            if expected:
                empty(pages)
            before = _writes(connection, pages)
            assert admin.rebuild().count == expected
            assert (_writes(connection, pages) == before) is (expected == 0)


def _writes(connection: sqlite3.Connection, path: Path) -> tuple[object, ...]:
    """What changes when somebody else writes. (The files may only be read by SQLite here.)"""
    ((version,),) = connection.execute("PRAGMA data_version")
    files = [path.with_name(path.name + suffix).stat() for suffix in ("", "-wal")]
    return version, *((file.st_size, file.st_mtime_ns) for file in files)


def test_it_creates_no_file(path: Path, tmp_path: Path) -> None:
    with open_admin(path) as admin, pytest.raises(StoreUnavailable, match="no such file"):
        admin.rebuild()
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize("script", ["", "CREATE TABLE theirs (what)"], ids=["empty", "another's"])
def test_it_makes_no_ledger_of_another_database(path: Path, tmp_path: Path, script: str) -> None:
    path.touch()
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    before = files_in(tmp_path)
    with open_admin(path) as admin, pytest.raises(NotALedger, match="without a ledger"):
        admin.rebuild()
    assert files_in(tmp_path) == before


# What it tells


@pytest.mark.parametrize("damage", [None, empty, drop], ids=["whole", "emptied", "dropped"])
def test_progress_never_goes_back_and_ends_at_its_total(
    pages: Path, damage: Callable[[Path], None] | None
) -> None:
    if damage is not None:
        damage(pages)
    told: list[Progress] = []
    with open_admin(pages) as admin:
        admin.rebuild(told.append)
    assert {progress.total for progress in told} == {2200}
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert [progress.seconds for progress in told] == sorted(progress.seconds for progress in told)
    assert (told[-1].done, told[-1].seconds_left) == (2200, 0)
    assert len({progress.done for progress in told}) > 2


def test_progress_of_an_empty_ledger_ends_at_nothing(nothing: Path) -> None:
    told: list[Progress] = []
    with open_admin(nothing) as admin:
        admin.rebuild(told.append)
    assert {(progress.done, progress.total) for progress in told} == {(0, 0)}


def test_an_interruption_leaves_a_whole_ledger_that_can_be_rebuilt(
    pages: Path, foreign: Foreign
) -> None:
    right = all_rows(foreign())
    empty(pages)
    halves = []

    def interrupt(progress: Progress) -> None:
        if progress.done:
            halves.append(progress)
            raise KeyboardInterrupt

    with open_admin(pages) as admin:
        with pytest.raises(KeyboardInterrupt):
            admin.rebuild(interrupt)
        assert halves
        assert all(set(rows) <= set(right[table]) for table, rows in all_rows(foreign()).items())
        assert admin.rebuild().count == 2200 - halves[0].done
    assert all_rows(foreign()) == right


def test_the_report_says_what_was_mended(unguarded: Unguarded, path: Path) -> None:
    _, connection = unguarded
    with open_admin(path) as admin:
        assert {finding.kind for finding in admin.rebuild().findings} == {"guard"}
        for trigger in ("insert", "update"):
            connection.execute(f"DROP TRIGGER interaction_resolutions_follow_log_on_{trigger}")
        connection.execute("UPDATE interaction_resolutions SET resolved_tick = 7")
        connection.execute("DELETE FROM losing_attempts WHERE sequence = 3")
        connection.execute("INSERT INTO losing_attempts SELECT 99, 'x', 7, 8, 9, 10, 11, 12, 13")
        told: list[Finding] = []
        report = admin.rebuild(finding=told.append)
        assert report.findings == tuple(told)
        assert (report.length, report.count, report.clean) == (4, 6, False)
        assert admin.rebuild().clean
    found = {(f.kind, f.sequence, f.instance): (f.expected, f.found) for f in told}
    assert [finding.kind for finding in told].count("guard") == 2
    _, gone = found["losing attempt", 3, instance(1).text]
    assert gone is None
    none_due, extra = found["losing attempt", 99, "x"]
    assert none_due is None
    assert extra is not None
    assert "sequence=99" in extra
    for i in (0, 1):
        expected, wrong = found["winner", None, instance(i).text]
        assert expected is not None
        assert wrong is not None
        assert "resolved_tick=7" in wrong
        assert "resolved_tick=7" not in expected
        assert response(1).text in expected
