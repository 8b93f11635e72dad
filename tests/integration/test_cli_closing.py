"""Closing an instance on the command line: create, withdraw, and what the others say of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from inside import files_in
from integration.migrations import newer_version
from integration.old_ledgers import VERSION_1, restore
from integration.shells import Done, Shell
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, response


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    return Shell(tmp_path, path, WORKSPACE)


def withdraw(shell: Shell, i: int, reason: str = "expired", **environment: str) -> Done:
    return shell.run("withdraw", str(instance(i)), reason, "--by", "timer", **environment)


def withdraw_json(
    shell: Shell, i: int, reason: str = "expired", **environment: str
) -> tuple[int, Any]:
    done = shell.run("--json", "withdraw", str(instance(i)), reason, **environment)
    return done.returncode, json.loads(done.stdout)


# create


def test_create_makes_a_ledger_and_says_nothing(shell: Shell, path: Path) -> None:
    done = shell.run("create")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
        checkpoint = admin.checkpoint()
    assert shell.run("winner", str(instance(1))).returncode == 0
    assert shell.run("--json", "create").stdout == ""
    with LedgerAdmin.open(path) as admin:
        assert admin.checkpoint() == checkpoint


def test_create_brings_an_older_ledger_up_to_date(shell: Shell, path: Path) -> None:
    restore(VERSION_1, path)
    before = path.read_bytes()
    assert shell.run("winner", str(instance(1))).stdout == f"{response(1)}\n"
    assert path.read_bytes() == before
    assert shell.run("create").returncode == 0
    assert path.read_bytes() != before
    assert shell.run("winner", str(instance(1))).stdout == f"{response(1)}\n"


def test_create_where_there_is_something_else_exits_1(shell: Shell, path: Path) -> None:
    path.write_bytes(b"something else " * 100)
    done = shell.run("create")
    assert (done.returncode, done.stdout) == (1, "")
    assert "NotALedger" in done.stderr


def test_create_on_a_ledger_of_a_version_to_come_exits_1(shell: Shell, path: Path) -> None:
    with newer_version(), ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()
    done = shell.run("create")
    assert (done.returncode, done.stdout) == (1, "")
    assert "SchemaTooNew" in done.stderr


# withdraw


def test_each_answer_to_withdraw_has_its_exit_status_and_object(shell: Shell) -> None:
    winner = str(response(1))
    assert withdraw_json(shell, 2) == (0, {"outcome": "withdrawn"})
    closed = {"outcome": "closed", "reason": "expired"}
    assert withdraw_json(shell, 2) == (14, closed)
    assert withdraw_json(shell, 2, "withdrawn") == (14, closed)
    elsewhere = {"RESOLUTION_WORKSPACE": OTHER_WORKSPACE}
    assert withdraw_json(shell, 2, **elsewhere) == (13, {"outcome": "fenced"})
    assert shell.resolve(1, 1) == (0, {"outcome": "won"})
    assert withdraw_json(shell, 1) == (11, {"outcome": "lost", "winner": winner})
    assert withdraw_json(shell, 1, **elsewhere) == (13, {"outcome": "fenced"})


def test_each_answer_to_withdraw_has_its_line(shell: Shell) -> None:
    assert withdraw(shell, 2).stdout == "withdrawn\n"
    assert withdraw(shell, 2).stdout == "closed: expired\n"
    fenced = withdraw(shell, 2, RESOLUTION_WORKSPACE=OTHER_WORKSPACE)
    assert fenced.stdout == "fenced: not of this workspace\n"
    shell.resolve(1, 1)
    assert withdraw(shell, 1).stdout == f"lost to {response(1)}\n"


def test_an_answer_to_what_was_closed_exits_14_with_the_reason(shell: Shell) -> None:
    withdraw(shell, 1, "withdrawn")
    for _ in range(2):
        assert shell.resolve(1, 1) == (14, {"outcome": "closed", "reason": "withdrawn"})
    done = shell.run("resolve", str(instance(1)), str(response(2)), "--key", str(key(2)))
    assert (done.returncode, done.stdout) == (14, "closed: withdrawn\n")
    nobody = shell.run("winner", str(instance(1)))
    assert (nobody.returncode, nobody.stdout) == (0, "")


def test_only_who_closed_it_lets_the_shell_go_on(shell: Shell) -> None:
    outputs = []
    for _ in range(2):
        done = shell.script(
            "if ledger withdraw $0 expired; then echo move on; fi", str(instance(1))
        )
        outputs.append(done.stdout.splitlines()[-1])
    assert outputs == ["move on", "closed: expired"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("withdraw", "nonsense", "expired"),
        ("withdraw", "", "expired"),
        ("withdraw", str(instance(1)).upper(), "expired"),
        ("withdraw", str(instance(1)), "Expired"),
        ("withdraw", str(instance(1)), "bored"),
        ("withdraw", str(instance(1)), ""),
        ("withdraw", str(instance(1))),
        ("withdraw", str(instance(1)), "expired", "--by", "b" * 513),
        ("withdraw", str(instance(1)), "expired", "--by", os.fsdecode(b"\xff")),
        ("withdraw", str(instance(1)), "expired", "--key", "k"),
        ("create", "there"),
        ("--workspace", "", "withdraw", str(instance(1)), "expired"),
        ("--ledger", ":memory:", "withdraw", str(instance(1)), "expired"),
        ("--ledger", ":memory:", "create"),
    ],
)
def test_a_usage_error_exits_2_says_why_and_leaves_no_file(
    shell: Shell, arguments: tuple[str, ...]
) -> None:
    done = shell.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert files_in(shell.folder) == {}


@pytest.mark.parametrize("injected", ["--help", "-h"])
def test_a_reason_that_asks_for_help_does_not_look_like_a_success(
    shell: Shell, injected: str
) -> None:
    for arguments in ((str(instance(1)), injected), (injected,), (injected, "expired")):
        done = shell.run("withdraw", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Usage" in done.stderr
    assert files_in(shell.folder) == {}


def test_withdraw_makes_the_ledger_as_resolve_does(shell: Shell, path: Path) -> None:
    assert withdraw(shell, 1).returncode == 0
    with LedgerAdmin.open(path) as admin:
        (closing,) = admin.attempts()
    assert (closing.outcome, closing.reason, closing.submitted_by) == ("closed", "expired", "timer")


@pytest.mark.parametrize("content", [b"something else " * 100, None], ids=["text", "a directory"])
def test_withdraw_where_there_is_no_ledger_of_ours_exits_1(
    shell: Shell, path: Path, content: bytes | None
) -> None:
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    done = withdraw(shell, 1)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1


# history and losers


def test_history_tells_machines_that_a_withdrawal_has_no_response_and_no_key(shell: Shell) -> None:
    withdraw(shell, 1)
    shell.resolve(1, 1)
    withdraw(shell, 1, "withdrawn")
    closed, late, again = shell.json("history", str(instance(1)))
    ticks = [line.pop("tick") for line in (closed, late, again)]
    assert ticks == sorted(ticks)
    common = {"instance": str(instance(1)), "workspace": WORKSPACE}
    nothing = {"response": None, "idempotency_key": None, "submitted_by": "timer"}
    assert closed == common | nothing | {
        "sequence": 1,
        "position": 1,
        "outcome": "closed",
        "reason": "expired",
    }
    assert late == common | {
        "sequence": 2,
        "position": 2,
        "outcome": "late",
        "response": str(response(1)),
        "idempotency_key": str(key(1)),
        "submitted_by": "tty",
        "reason": None,
    }
    assert again == common | nothing | {
        "sequence": 3,
        "position": 3,
        "outcome": "withdrawal-late",
        "reason": "withdrawn",
    }


def test_history_tells_people_the_reason_where_a_response_would_stand(shell: Shell) -> None:
    withdraw(shell, 1)
    shell.resolve(1, 1)
    _, closed, late = shell.run("history", str(instance(1))).stdout.splitlines()
    assert closed.split()[-4:] == ["closed", str(instance(1)), "(expired)", "timer"]
    assert late.split()[-5:] == ["late", str(instance(1)), str(response(1)), str(key(1)), "tty"]


def test_losers_are_answers_that_came_too_late_and_no_withdrawals(shell: Shell) -> None:
    withdraw(shell, 1)
    shell.resolve(1, 1)
    shell.resolve(2, 2)
    withdraw(shell, 1, "withdrawn")
    losers = shell.json("losers")
    assert [(line["sequence"], line["outcome"]) for line in losers] == [(3, "late"), (2, "late")]
