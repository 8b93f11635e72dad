"""Closed instances in the trail on the command line: attempts, replay, contested, state-at."""

from __future__ import annotations

import json
import signal
from itertools import count
from pathlib import Path

import pytest

from answers import answer
from integration.closers import close_at_once
from integration.shells import Shell, end
from processes import run_together
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response
from submissions import Closing, Submission

START = 1_700_000_000_000_000_000

SUBMISSIONS: list[tuple[str, Submission, str]] = [
    (WORKSPACE, Closing(instance(1), "expired", "timer"), "closed"),
    (WORKSPACE, record(1, 1, 1, "tty"), "late"),
    (WORKSPACE, record(2, 1, 1, "tty"), "won"),
    (WORKSPACE, Closing(instance(2), "withdrawn", "host"), "withdrawal-lost"),
    (WORKSPACE, record(1, 2, 2, "web"), "late"),
    (WORKSPACE, Closing(instance(1), "withdrawn", "host"), "withdrawal-late"),
    (OTHER_WORKSPACE, Closing(instance(1), "expired", "timer"), "withdrawal-fenced"),
    (OTHER_WORKSPACE, record(1, 3, 3, "tty"), "fenced"),
    (OTHER_WORKSPACE, Closing(instance(3), "withdrawn", "host"), "closed"),
]
"""By whom, what, and what it comes to; a millisecond after one another."""


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    """An operator's, of a ledger with all of ``SUBMISSIONS``."""
    ticks = count(START, 1_000_000)
    for workspace, submission, _ in SUBMISSIONS:
        with ResolutionLedger.open(path, workspace=workspace, clock=lambda: next(ticks)) as ledger:
            answer(ledger, submission)
    with LedgerAdmin.open(path) as admin:
        assert [a.outcome for a in admin.attempts()] == [outcome for *_, outcome in SUBMISSIONS]
    return Shell(tmp_path, path)


CLOSING = {
    "sequence": 1,
    "position": 1,
    "instance": str(instance(1)),
    "outcome": "closed",
    "response": None,
    "idempotency_key": None,
    "submitted_by": "timer",
    "workspace": WORKSPACE,
    "tick": START,
    "reason": "expired",
}
LATE = {
    "sequence": 2,
    "position": 2,
    "instance": str(instance(1)),
    "outcome": "late",
    "response": str(response(1)),
    "idempotency_key": str(key(1)),
    "submitted_by": "tty",
    "workspace": WORKSPACE,
    "tick": START + 1_000_000,
    "reason": None,
}
LOST = {
    "sequence": 4,
    "position": 2,
    "instance": str(instance(2)),
    "outcome": "withdrawal-lost",
    "response": None,
    "idempotency_key": None,
    "submitted_by": "host",
    "workspace": WORKSPACE,
    "tick": START + 3_000_000,
    "reason": "withdrawn",
}


def test_attempts_tells_machines_that_a_withdrawal_has_a_reason_and_no_response(
    shell: Shell,
) -> None:
    lines = shell.json("attempts")
    assert [line["sequence"] for line in lines] == [*range(1, 10)]
    assert (lines[0], lines[1], lines[3]) == (CLOSING, LATE, LOST)
    for line in lines:
        withdrawn = line["outcome"] == "closed" or line["outcome"].startswith("withdrawal-")
        assert withdrawn is (line["reason"] is not None)
        assert withdrawn is (line["response"] is None) is (line["idempotency_key"] is None)


def test_attempts_tells_people_the_reason_where_a_response_would_stand(shell: Shell) -> None:
    lines = [line.split() for line in shell.run("attempts").stdout.splitlines()]
    assert lines[0][3:] == ["closed", WORKSPACE, f"{instance(1)}/1", "(expired)", "-", "timer"]
    assert lines[1][3:5] == ["late", WORKSPACE]
    assert lines[1][6:] == [str(response(1)), str(key(1)), "tty"]
    assert lines[3][3:] == [
        "withdrawal-lost",
        WORKSPACE,
        f"{instance(2)}/2",
        "(withdrawn)",
        "-",
        "host",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("attempts", "--outcome", "closed"), [1, 9]),
        (("attempts", "--outcome", "closed", "--after", "1"), [9]),
        (("--workspace", WORKSPACE, "attempts", "--outcome", "closed"), [1]),
        (("attempts", "--outcome", "late"), [2, 5]),
        (("attempts", "--outcome", "withdrawal-lost"), [4]),
        (("attempts", "--outcome", "withdrawal-late"), [6]),
        (("attempts", "--outcome", "withdrawal-fenced"), [7]),
        (("state-at", "9"), [1, 3, 9]),
        (("state-at", "8"), [1, 3]),
        (("state-at", "1"), [1]),
        (("replay", str(instance(1))), [1, 2, 5, 6, 7, 8]),
        (("replay",), [*range(1, 10)]),
    ],
)
def test_each_command_shows_those_that_were_asked_for(
    shell: Shell, arguments: tuple[str, ...], expected: list[int]
) -> None:
    assert [line["sequence"] for line in shell.json(*arguments)] == expected


def test_an_outcome_that_there_is_none_of_exits_2(shell: Shell) -> None:
    for outcome in ("Closed", "withdrawn", "expired", "withdrawal"):
        done = shell.run("attempts", "--outcome", outcome)
        assert (done.returncode, done.stdout) == (2, "")


def test_replay_tells_how_long_after_the_closing_each_attempt_came(shell: Shell) -> None:
    lines = shell.json("replay", str(instance(1)))
    behind = [line.pop("behind") for line in lines]
    assert behind == [1_000_000 * n for n in (0, 1, 4, 5, 6, 7)]
    assert lines[:2] == [CLOSING, LATE]
    closed, late, *_ = shell.run("replay", str(instance(1))).stdout.splitlines()
    assert " closed " in closed
    assert "ms" not in closed
    assert closed.split()[-2:] == ["(expired)", "timer"]
    assert "+1.000 ms" in late
    assert late.split()[-2:] == [str(response(1)), "tty"]


def test_contested_tells_of_answers_to_what_was_closed(shell: Shell) -> None:
    """How many there were, and by how much the first came too late. No withdrawal is one."""
    (contest,) = shell.json("contested")
    assert contest == {
        "instance": str(instance(1)),
        "outcome": "closed",
        "winner": None,
        "reason": "expired",
        "answers": 3,
        "attempts": 3,
        "margin": 1_000_000,
    }
    _, line = shell.run("contested").stdout.splitlines()
    assert line.split() == [str(instance(1)), "(expired)", "3", "3", "1.000"]


def test_contested_puts_the_most_different_answers_first_whether_it_was_won_or_closed(
    shell: Shell, path: Path
) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        for r in (5, 6, 7):
            ledger.resolve(record(2, r, r))
    contests = shell.json("contested")
    assert [(c["outcome"], c["answers"], c["attempts"]) for c in contests] == [
        ("won", 4, 3),
        ("closed", 3, 3),
    ]
    assert shell.json("contested", "--limit", "1") == contests[:1]


def test_state_at_for_people_says_how_each_was_settled(shell: Shell) -> None:
    lines = [line.split() for line in shell.run("state-at", "9").stdout.splitlines()]
    assert [line[3] for line in lines] == ["closed", "won", "closed"]
    assert [line[6] for line in lines] == ["(expired)", str(response(1)), "(withdrawn)"]


@pytest.mark.parametrize("command", ["attempts", "replay"])
def test_a_hostile_label_of_a_withdrawal_cannot_move_the_cursor_or_add_a_line(
    shell: Shell, path: Path, command: str
) -> None:
    with ResolutionLedger.open(path, workspace="ws-\x1b[2J") as ledger:
        ledger.withdraw(instance(5), "expired", "a\nb\x1b[H\u202e")
    done = shell.run(command)
    assert len(done.stdout.splitlines()) == len(SUBMISSIONS) + 1
    assert done.stdout.replace("\n", "").isprintable()
    assert shell.json(command)[-1]["submitted_by"] == "a\nb\x1b[H\u202e"


def test_following_shows_what_other_processes_close(shell: Shell, path: Path) -> None:
    """One closes it; what the other does is a retransmission and leaves no trace."""
    with shell.start("--json", "attempts", "--follow", "--outcome", "closed") as follower:
        assert follower.stdout is not None
        seen = [json.loads(follower.stdout.readline()) for _ in range(2)]
        run_together(close_at_once, [([str(path)],)] * 2)
        seen.append(json.loads(follower.stdout.readline()))
        done = end(follower, signal.SIGINT)
    assert [line["sequence"] for line in seen] == [1, 9, 10]
    assert (seen[-1]["instance"], seen[-1]["reason"]) == (str(instance(9)), "expired")
    assert (done.returncode, done.stdout) == (130, "")
