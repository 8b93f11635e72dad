"""What is said of the gate, and of whoever else uses the database."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest

from integration.examined import examined, of, warned
from resolution_ledger import (
    LedgerAdmin,
    ResolutionLedger,
)
from resolution_ledger.infra.health import Subject
from resolution_ledger.infra.sqlite import surroundings
from samples import WORKSPACE, instance, record, response

pytestmark = pytest.mark.usefixtures("on_a_disk")


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
