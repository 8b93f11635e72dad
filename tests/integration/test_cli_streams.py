"""Operators' commands with streams that are closed, full, pipes or a terminal."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from time import sleep

import pytest

from inside import files_in
from integration.arranged import HALF_WAY
from integration.rebuilders import empty
from integration.shells import Shell, end, read_terminal, unread
from integration.tampering import make_ledger
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import WORKSPACE, record

LENGTH = 10  # so few that an export waits in a buffer to the end
PRINTING = [
    ("attempts", "--follow"),
    ("--json", "replay"),
    ("contested",),
    ("verify",),
    ("checkpoint",),
    ("export",),
]
"""In a ledger with findings, each of these prints something, each in its own way."""

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    make_ledger(path, LENGTH)
    shell = Shell(tmp_path, path)
    shell.environment["TERM"] = "xterm"
    return shell


@pytest.fixture
def findings(path: Path, shell: Shell) -> int:
    """Something is to be found and to be mended: so many rows."""
    assert shell.folder
    empty(path)
    with LedgerAdmin.open(path) as admin:
        return admin.verify().count


@pytest.mark.usefixtures("findings")
@pytest.mark.parametrize("command", PRINTING, ids=" ".join)
def test_a_reader_that_has_gone_ends_the_command_without_a_word(
    shell: Shell, command: tuple[str, ...]
) -> None:
    if command == ("contested",):
        shell.run("rebuild")
    reading, writing = os.pipe()
    os.close(reading)
    with shell.start(*command, stdout=writing) as process:
        os.close(writing)
        done = end(process)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("command", ["attempts", "contested", "export"])
def test_an_answer_that_cannot_be_written_exits_1(shell: Shell, command: str) -> None:
    done = shell.script(f"ledger {command} > /dev/full")
    assert done.returncode == 1
    assert "could not be written" in done.stderr
    assert "exported" not in done.stderr


@pytest.mark.parametrize(
    ("command", "status"),
    [("attempts", 0), ("attempts --follow", 2), ("contested", 0), ("export", 2)],
)
def test_a_closed_standard_output_is_no_traceback(shell: Shell, command: str, status: int) -> None:
    """And nobody follows, or exports, into nothing."""
    assert shell.script(f"ledger {command} >&-").returncode == status


@pytest.fixture
def wide(path: Path, shell: Shell) -> Shell:
    """A shell, of a ledger whose export is far more than a pipe takes."""
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as ledger:
        for n in range(100, 300):
            ledger.resolve(record(n, 1, 1, "label " * 80))
    return shell


@pytest.mark.parametrize("command", ["export", "attempts"])
def test_a_command_that_waits_for_its_reader_can_be_interrupted(wide: Shell, command: str) -> None:
    with wide.start("--json", command) as process:
        assert process.stdout is not None
        before = 0
        while before == 0 or before != unread(process.stdout.fileno()):
            before = unread(process.stdout.fileno())
            sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.wait(10)  # though still nobody reads
        done = end(process)
    assert (done.returncode, done.stderr.strip()) == (130, "Interrupted.")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_export_into_a_pipe_that_takes_no_more_at_once_says_that_it_is_not_whole(
    wide: Shell, unbuffered: str
) -> None:
    wide.environment["PYTHONUNBUFFERED"] = unbuffered
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with wide.start("export", stdout=writing) as process:
        os.close(writing)
        done = end(process)
    os.close(reading)
    assert done.returncode == 1
    assert "exported" not in done.stderr


def test_an_export_to_a_full_disk_leaves_no_file(wide: Shell) -> None:
    done = wide.script("ulimit -f 128; ledger export file")  # 64 or 128 KiB
    assert done.returncode == 1
    assert "large" in done.stderr
    assert list(files_in(wide.folder)) == ["ledger.db"]


def test_a_file_that_cannot_be_written_is_told_without_a_standard_output_as_well(
    shell: Shell,
) -> None:
    done = shell.script("ledger export missing/file >&-")
    assert done.returncode == 1
    assert "missing/file" in done.stderr


@pytest.mark.parametrize("command", ["import", "verify --checkpoint -"])
def test_a_closed_standard_input_is_a_usage_error(shell: Shell, command: str) -> None:
    shell.environment["RESOLUTION_LEDGER"] = "other.db"
    done = shell.script(f"ledger {command} <&-")
    assert done.returncode == 2
    assert not (shell.folder / "other.db").exists()


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_remark_that_nobody_can_read_changes_no_verdict(
    shell: Shell, path: Path, redirection: str
) -> None:
    assert shell.script(f"ledger verify {redirection}").returncode == 0
    empty(path)
    assert shell.script(f"ledger verify {redirection}").returncode == 20
    assert shell.script(f"ledger rebuild {redirection}").returncode == 0


def test_the_beginning_of_a_long_answer_can_be_had_alone(shell: Shell) -> None:
    done = shell.script("for _ in 1 2 3; do ledger attempts; done | head -n 1")
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")


# Terminals


def test_long_commands_show_on_a_terminal_how_far_they_are(shell: Shell, findings: int) -> None:
    exported = shell.run("export").stdout
    shell.environment["RESOLUTION_LEDGER"] = "other.db"
    for arguments, title, remark, status in (
        (("import",), "Importing", f"{LENGTH} events imported.", 0),
        (("export", "file"), "Exporting", f"{LENGTH} events exported.", 0),
        (("verify",), "Verifying", f"{LENGTH} events, 0 findings.", 0),
    ):
        done = shell.on_terminal(*arguments, stdin=exported.encode())
        assert (done.returncode, done.stdout) == (status, "")
        assert title in done.stderr
        assert "100%" in done.stderr
        assert done.stderr.endswith(f"{remark}\r\n")
        assert done.stderr.rindex(SHOW_CURSOR) > done.stderr.rindex(HIDE_CURSOR)
    assert (shell.folder / "file").read_text() == exported
    assert findings


def test_answers_are_on_standard_output_while_progress_is_on_a_terminal(
    shell: Shell, findings: int
) -> None:
    for command, status in (("verify", 20), ("rebuild", 0)):
        done = shell.on_terminal("--json", command)
        assert done.returncode == status
        assert len([json.loads(line) for line in done.stdout.splitlines()]) == findings
        assert "\x1b" not in done.stdout
        assert "interaction_resolutions" not in done.stderr
    exported = shell.on_terminal("export")
    assert exported.stdout == shell.run("export").stdout
    assert "Exporting" in exported.stderr


def test_short_commands_show_nothing_on_a_terminal(shell: Shell) -> None:
    for arguments in (("checkpoint",), ("attempts",)):
        done = shell.on_terminal(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


def test_an_interrupted_command_gives_the_cursor_back(shell: Shell) -> None:
    terminal, other_end = os.openpty()
    with (
        open(terminal, "rb", buffering=0) as screen,
        shell.start("export", "file", arranged=True, stderr=other_end) as process,
    ):
        os.close(other_end)
        shown = b""
        while HALF_WAY.strip() not in shown:
            shown += screen.read(1000) or b""
        process.send_signal(signal.SIGINT)
        shown += read_terminal(terminal)
        assert process.wait() == 130
    text = shown.decode()
    assert text.rindex(SHOW_CURSOR) > text.rindex(HIDE_CURSOR)
    assert text.rstrip().endswith("Interrupted.")
    assert not (shell.folder / "file").exists()
