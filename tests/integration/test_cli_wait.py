"""Waiting on the command line for what becomes of an instance."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inside import files_in
from integration.shells import Shell, end
from resolution_ledger import ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record, response


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    """Beside a ledger: response 1 won instance 1, instance 2 expired, 3 is another workspace's."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1))
        ledger.withdraw(instance(2), "expired")
    with ResolutionLedger.open(path, workspace=OTHER_WORKSPACE) as other:
        other.resolve(record(3, 1, 1))
    return Shell(tmp_path, path, WORKSPACE)


WON = {"outcome": "resolved", "winner": str(response(1))}
CLOSED = {"outcome": "closed", "reason": "expired"}
TIMED_OUT = {"outcome": "timed out"}
FENCED = {"outcome": "fenced"}

OUTCOMES: dict[str, tuple[int, int, str, dict[str, str]]] = {
    "won": (1, 0, f"{response(1)}\n", WON),
    "closed": (2, 14, "closed: expired\n", CLOSED),
    "another workspace's": (3, 13, "fenced: not of this workspace\n", FENCED),
    "open": (9, 15, "timed out\n", TIMED_OUT),
}


@pytest.mark.parametrize("timeout", ["0", "0.01", "-0.0"])
@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
def test_each_outcome_has_its_exit_status_line_and_object(
    shell: Shell, outcome: tuple[int, int, str, dict[str, str]], timeout: str
) -> None:
    i, status, text, fields = outcome
    done = shell.run("wait", str(instance(i)), f"--timeout={timeout}")
    assert (done.returncode, done.stdout, done.stderr) == (status, text, "")
    done = shell.run("--json", "wait", str(instance(i)), f"--timeout={timeout}")
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (status, fields, "")


def win(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(9, 1, 1))


def close(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(9), "expired")


Settling = tuple[Callable[[ResolutionLedger], None], str, int, dict[str, str]]

SETTLING: dict[str, Settling] = {
    "won": (win, WORKSPACE, 0, WON),
    "closed": (close, WORKSPACE, 14, CLOSED),
    "won elsewhere": (win, OTHER_WORKSPACE, 13, FENCED),
    "closed elsewhere": (close, OTHER_WORKSPACE, 13, FENCED),
}


@pytest.mark.parametrize("settling", SETTLING.values(), ids=SETTLING)
@pytest.mark.parametrize("timeout", [(), ("--timeout", "inf"), ("--timeout", "100")])
def test_it_waits_for_what_another_process_does(
    shell: Shell, path: Path, settling: Settling, timeout: tuple[str, ...]
) -> None:
    settle, workspace, status, fields = settling
    with (
        shell.start("--json", "wait", str(instance(9)), *timeout) as waiting,
        ResolutionLedger.open(path, workspace=workspace) as ledger,
    ):
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
        settle(ledger)
        done = end(waiting)
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (status, fields, "")


def test_a_timeout_changes_nothing(shell: Shell, path: Path) -> None:
    before = files_in(path.parent)
    assert shell.run("wait", str(instance(9)), "--timeout", "0.1").returncode == 15
    assert files_in(path.parent) == before
    assert shell.run("winner", str(instance(9))).stdout == ""


def test_whoever_interrupts_it_learns_nothing(shell: Shell) -> None:
    with shell.start("wait", str(instance(9))) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
        done = end(waiting, signal.SIGINT)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "Interrupted."


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("",),
        (str(instance(1)).upper(),),
        (),
        (str(instance(1)), "--timeout", "-1"),
        (str(instance(1)), "--timeout", "-inf"),
        (str(instance(1)), "--timeout", "nan"),
        (str(instance(1)), "--timeout", "soon"),
        (str(instance(1)), "--timeout", ""),
        (str(instance(1)), "--help"),
        ("-h",),
        ("--help", "--timeout", "0"),
    ],
    ids=" ".join,
)
def test_a_usage_error_exits_2_and_says_why(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Also on help: whatever a shell waits for, it has not come."""
    done = shell.run("wait", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_without_a_workspace_it_is_a_usage_error(shell: Shell) -> None:
    del shell.environment["RESOLUTION_WORKSPACE"]
    done = shell.run("wait", str(instance(1)))
    assert done.returncode == 2
    assert "RESOLUTION_WORKSPACE" in done.stderr


@pytest.mark.parametrize("timeout", [(), ("--timeout", "0")])
def test_where_there_is_no_ledger_it_exits_1_at_once_and_makes_none(
    shell: Shell, tmp_path: Path, timeout: tuple[str, ...]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = shell.run("--ledger", str(elsewhere / "none.db"), "wait", str(instance(1)), *timeout)
    assert (done.returncode, done.stdout) == (1, "")
    assert "StoreUnavailable" in done.stderr
    assert files_in(elsewhere) == {}


def test_it_ends_with_its_ledger(shell: Shell, path: Path) -> None:
    with shell.start("wait", str(instance(9))) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
        path.rename(path.with_name("moved.db"))
        done = end(waiting)
    assert (done.returncode, done.stdout) == (1, "")
    assert "StoreUnavailable" in done.stderr
