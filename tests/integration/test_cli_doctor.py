"""``doctor`` on the command line."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from inside import files_in
from integration.shells import Shell, objects
from integration.tampering import make_ledger
from resolution_ledger import LedgerAdmin
from resolution_ledger.infra.health import Subject

LENGTH = 20


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    make_ledger(path, LENGTH)
    return Shell(tmp_path, path)


def test_machines_get_an_object_for_each_thing_that_was_looked_at(shell: Shell, path: Path) -> None:
    with LedgerAdmin.open(path) as admin:
        examination = admin.examine()
    done = shell.run("--json", "doctor")
    printed = objects(done)
    assert [one["subject"] for one in printed] == [*get_args(Subject)]
    for one, seen in zip(printed, examination.observations, strict=True):
        expected = msgspec.structs.asdict(seen)
        if seen.subject == "free space":
            one["found"] = expected["found"]
        assert one == expected
    assert done.stderr == ""


def test_people_get_a_table(shell: Shell) -> None:
    lines = shell.run("doctor").stdout.splitlines()
    assert len(lines) == 1 + len(get_args(Subject))
    rows = dict(zip(get_args(Subject), lines[1:], strict=True))
    for subject, line in rows.items():
        assert subject in line
    assert sqlite3.sqlite_version in rows["sqlite"]
    assert f" {LENGTH} " in f"{rows['events']} "


def test_the_exit_status_says_whether_there_is_a_warning(shell: Shell, path: Path) -> None:
    level = {one["level"] for one in shell.json("doctor")}
    assert shell.run("doctor").returncode == (20 if "warning" in level else 0)
    path.chmod(0o666)
    done = shell.run("--json", "doctor")
    assert done.returncode == 20
    (access,) = (one for one in objects(done) if one["subject"] == "access")
    assert access["level"] == "warning"
    (line,) = (line for line in shell.run("doctor").stdout.splitlines() if " access " in line)
    assert line.startswith("warning")


def test_the_check_can_be_left_out(shell: Shell) -> None:
    assert shell.json("doctor")[-1]["found"] == "ok"
    assert shell.json("doctor", "--no-check")[-1]["found"] is None


def test_damage_is_told_and_nothing_is_changed(shell: Shell, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:9000] + b"\xff" * 5000)
    before = files_in(shell.folder)
    for arguments in (["doctor"], ["--json", "doctor"]):
        done = shell.run(*arguments)
        assert (done.returncode, done.stderr) == (20, "")
        assert done.stdout
    assert files_in(shell.folder) == before


@pytest.mark.parametrize(
    "name", ["\x1b]0;x\x07.db", "a\nb.db", "\u202e.db", "\udcff.db"], ids=ascii
)
def test_a_hostile_name_of_a_ledger_is_told_with_escapes(
    shell: Shell, path: Path, name: str
) -> None:
    place = shell.folder / name
    path.rename(place)
    place.chmod(0o666)
    lines = shell.run("--ledger", name, "doctor")
    assert lines.returncode == 20
    assert lines.stdout.replace("\n", "").isprintable()
    assert len(lines.stdout.splitlines()) == 1 + len(get_args(Subject))
    printed = objects(shell.run("--ledger", name, "--json", "doctor"))
    assert [one["subject"] for one in printed] == [*get_args(Subject)]


@pytest.mark.parametrize("command", [("import",), ("verify", "--checkpoint"), ("export",)])
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal", "-gate"])
def test_the_ledgers_own_files_are_neither_read_nor_written_as_something_else(
    shell: Shell, path: Path, command: tuple[str, ...], suffix: str
) -> None:
    link = shell.folder / "link"
    link.symlink_to(f"{path}{suffix}")
    before = path.read_bytes()
    for name in (f"{path}{suffix}", "link"):
        done = shell.run(*command, name)
        assert (done.returncode, done.stdout) == (2, "")
        assert "the ledger itself" in done.stderr
    assert path.read_bytes() == before
