"""Operators' commands with wrong arguments, wrong files and hostile or damaged texts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from inside import files_in
from integration.migrations import newer_version
from integration.rebuilders import empty
from integration.shells import Shell, end, objects
from integration.tampering import guards_dropped, make_ledger
from resolution_ledger import IdempotencyKey, ResolutionLedger, ResolutionRecord
from samples import WORKSPACE, instance, record, response

LENGTH = 20
COMMANDS = {
    "attempts": (),
    "replay": (),
    "contested": (),
    "state-at": ("0",),
    "verify": (),
    "doctor": (),
    "rebuild": (),
    "checkpoint": (),
    "export": ("file",),
    "adopt": (),
}
each_command = pytest.mark.parametrize(
    "command", [(name, *arguments) for name, arguments in COMMANDS.items()], ids=COMMANDS
)


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    """Where there is no ledger yet."""
    return Shell(tmp_path, path)


@pytest.fixture
def there(path: Path) -> None:
    """A ledger is there."""
    make_ledger(path, LENGTH)


# Arguments


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    "arguments",
    [
        ("attempts", "--after", "-1"),
        ("attempts", "--after", str(2**63)),
        ("attempts", "--outcome", "Won"),
        ("replay", str(instance(0)).upper()),
        ("replay", "\udcff"),
        ("contested", "--limit", str(2**63)),
        ("state-at", str(LENGTH + 1)),
        ("state-at", str(2**63)),
        ("state-at", "--", "-1"),
        ("verify", "--checkpoint", "missing"),
        ("export", "."),
    ],
    ids=lambda arguments: " ".join(arguments).encode("ascii", "replace").decode()[:40],
)
def test_a_usage_error_exits_2_and_says_why(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert list(files_in(shell.folder)) == ["ledger.db"]


def test_a_command_without_a_ledger_says_how_to_name_one(shell: Shell) -> None:
    del shell.environment["RESOLUTION_LEDGER"]
    done = shell.run("verify")
    assert (done.returncode, done.stdout) == (2, "")
    assert "RESOLUTION_LEDGER" in done.stderr


# Files


@each_command
def test_where_there_is_no_ledger_no_file_appears(shell: Shell, command: tuple[str, ...]) -> None:
    done = shell.run(*command)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert files_in(shell.folder) == {}


def directory(path: Path) -> None:
    path.mkdir()


def text(path: Path) -> None:
    path.write_bytes(b"something else " * 1000)


def database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def newer_ledger(path: Path) -> None:
    make_ledger(path, LENGTH)
    with newer_version(), ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(99, 1, 1))


def nobodys(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    make_ledger(path, LENGTH)
    path.chmod(0)


@pytest.mark.parametrize("make", [directory, text, database, newer_ledger, nobodys])
@pytest.mark.parametrize("command", [("verify",), ("export", "file")])
def test_what_is_no_ledger_of_ours_exits_1_and_is_left_alone(
    shell: Shell, path: Path, make: Callable[[Path], None], command: tuple[str, ...]
) -> None:
    make(path)
    done = shell.run(*command)
    assert (done.returncode, done.stdout) == (1, "")
    assert str(path) in done.stderr
    assert done.stderr.count("\n") == 1
    assert [file.name for file in shell.folder.iterdir()] == ["ledger.db"]


@pytest.mark.usefixtures("there")
def test_while_others_write_for_long_all_can_be_read_and_nothing_is_mended(
    shell: Shell, path: Path
) -> None:
    empty(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert len(shell.json("attempts")) == LENGTH
        assert shell.run("verify").returncode == 20
        for command in ("rebuild", "adopt"):
            with shell.start(command, arranged=True) as process:
                done = end(process)
            assert (done.returncode, done.stdout) == (1, "")
            assert "StoreBusy" in done.stderr


# Texts

TEXTS = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "a\nb\r\x0b\x0c\x85\u2028\u2029",
    "\u202egnp.exe",
    "\x9b2J",
    "[red]x[/red] {x} %s",
    "Zo\u00eb \u2603",
]


@pytest.mark.parametrize("name", ["\x1b]0;x\x07", "a\nb", "\u202e", "\udcff"], ids=ascii)
def test_a_hostile_name_of_a_file_is_told_with_escapes(shell: Shell, name: str) -> None:
    done = shell.run("--ledger", name, "verify")
    assert done.returncode == 1
    assert done.stderr.removesuffix("\n").isprintable()


@pytest.fixture
def labels(path: Path) -> None:
    """Each of the texts is the name of a workspace, and the label and key of two attempts."""
    for n, each in enumerate(TEXTS):
        with ResolutionLedger.open(path, workspace=each, durability="normal") as ledger:
            for r in (1, 2):
                of_key = IdempotencyKey(f"{each}{r}")
                ledger.resolve(ResolutionRecord(instance(n), response(r), of_key, each))


@pytest.mark.usefixtures("labels")
@pytest.mark.parametrize("command", ["attempts", "replay", f"state-at {len(TEXTS) * 2}"])
def test_a_hostile_text_cannot_move_the_cursor_or_add_a_line(shell: Shell, command: str) -> None:
    done = shell.run(*command.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(TEXTS) * (1 if "state" in command else 2)
    assert done.stdout.replace("\n", "").isprintable()
    assert "\\u202egnp.exe" in done.stdout
    assert "Zo\u00eb \u2603" in done.stdout


NARROW = [
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.usefixtures("labels")
@pytest.mark.parametrize("environment", NARROW, ids=["ascii", "no locale"])
def test_an_output_of_few_letters_loses_no_line_and_for_machines_nothing(
    shell: Shell, environment: dict[str, str]
) -> None:
    done = shell.run("attempts", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(TEXTS) * 2
    lines = shell.json("attempts", **environment)[::2]
    assert [line["submitted_by"] for line in lines] == TEXTS
    assert [line["workspace"] for line in lines] == TEXTS
    assert [line["idempotency_key"] for line in lines] == [f"{each}1" for each in TEXTS]


DAMAGED = b"\xff" + "".join(TEXTS).encode() + b"\0\xed\xa0\x80 \xe2\x98"
DAMAGES = [
    ("resolution_events", "originator_id", "sequence = 9"),
    ("resolution_events", "topic", "sequence = 10"),
    ("losing_attempts", "submitted_by", "outcome = 'replayed'"),
    ("losing_attempts", "instance_id", "outcome = 'lost'"),
    ("interaction_resolutions", "workspace_key", "true"),
]


@pytest.mark.usefixtures("there")
def test_damaged_text_is_told_with_escapes(shell: Shell, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as vandal, guards_dropped(vandal):
        for table, column, rows in DAMAGES:
            damaged = f"CAST(x'{DAMAGED.hex()}' AS TEXT)"
            vandal.execute(f"UPDATE {table} SET {column} = {damaged} WHERE {rows}")  # noqa: S608
    lines, findings = shell.run("verify"), shell.run("--json", "verify")
    assert lines.returncode == findings.returncode == 20
    assert lines.stdout.replace("\n", "").isprintable()
    assert lines.stdout.count("\\udcff") >= len(DAMAGES)
    assert len(lines.stdout.splitlines()) == len(objects(findings))
    kinds = {finding["kind"] for finding in objects(findings)}
    assert kinds >= {"event", "instance", "winner", "losing attempt"}


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("damage", ["instance_id = 'x'", "attempted_tick = 'x'"])
def test_contests_that_make_no_sense_are_damage_and_no_usage_error(
    shell: Shell, path: Path, damage: str
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as vandal, guards_dropped(vandal):
        vandal.execute(f"UPDATE losing_attempts SET {damage}")  # noqa: S608
    done = shell.run("contested")
    assert done.returncode in {0, 1}
    assert done.stderr.count("\n") == done.returncode
