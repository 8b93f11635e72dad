"""The trail of attempts on the command line: attempts, replay, contested, state-at."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from integration.shells import Shell, end
from processes import resolve_each, run_together
from resolution_ledger import ResolutionError, ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response

START = 1_700_000_000_000_000_000
LAST = 2**63 - 1


class Submission(NamedTuple):
    """What is submitted, how long after ``START`` by its writer's clock, and what it comes to."""

    workspace: str
    i: int
    r: int
    k: int
    milliseconds: float
    outcome: str


SUBMISSIONS = [
    Submission(WORKSPACE, 1, 1, 1, 0, "won"),
    Submission(WORKSPACE, 1, 2, 2, 1.5, "lost"),
    Submission(WORKSPACE, 1, 1, 3, 2, "replayed"),
    Submission(WORKSPACE, 1, 2, 1, 3, "conflicted"),
    Submission(OTHER_WORKSPACE, 1, 3, 1, 4, "fenced"),
    Submission(OTHER_WORKSPACE, 2, 1, 1, 5, "won"),
    Submission(WORKSPACE, 3, 1, 1, 6, "won"),
    Submission(WORKSPACE, 3, 2, 2, 6.25, "lost"),
    Submission(WORKSPACE, 1, 3, 9, -2, "lost"),  # a clock that is behind
]
WINS = [1, 6, 7]


def tick(submission: Submission) -> int:
    return START + round(submission.milliseconds * 1_000_000)


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    """An operator's, of a ledger with all of ``SUBMISSIONS``."""
    for submission in SUBMISSIONS:
        submit(path, submission)
    return Shell(tmp_path, path)


def submit(path: Path, submission: Submission, by: str = "tty") -> None:
    workspace, i, r, k, *_ = submission
    with ResolutionLedger.open(
        path, workspace=workspace, durability="normal", clock=lambda: tick(submission)
    ) as ledger:
        try:
            ledger.resolve(record(i, r, k, by))
        except ResolutionError:
            assert submission.outcome in {"conflicted", "fenced"}


def sequences(lines: list[Any]) -> list[int]:
    return [line["sequence"] for line in lines]


def test_attempts_prints_every_fact_of_each_in_the_order_of_commits(shell: Shell) -> None:
    lines = shell.json("attempts")
    positions = [line.pop("position") for line in lines]
    assert positions == [1, 2, 3, 4, 5, 1, 1, 2, 6]
    assert lines == [
        {
            "sequence": n,
            "instance": str(instance(submission.i)),
            "outcome": submission.outcome,
            "response": str(response(submission.r)),
            "idempotency_key": str(key(submission.k)),
            "submitted_by": "tty",
            "workspace": submission.workspace,
            "tick": tick(submission),
            "reason": None,
        }
        for n, submission in enumerate(SUBMISSIONS, start=1)
    ]


def test_attempts_for_people_has_a_line_each_and_cuts_nothing(shell: Shell) -> None:
    done = shell.run("attempts")
    assert (done.returncode, done.stderr) == (0, "")
    for line, (n, submission) in zip(
        done.stdout.splitlines(), enumerate(SUBMISSIONS, start=1), strict=True
    ):
        sequence, _, time, *facts = line.split()
        assert int(sequence) == n
        assert time.startswith("22:13:")
        assert facts[:2] == [submission.outcome, submission.workspace]
        assert facts[2].startswith(f"{instance(submission.i)}/")
        assert facts[3:] == [str(response(submission.r)), str(key(submission.k)), "tty"]


@pytest.mark.parametrize(
    ("arguments", "workspace", "expected"),
    [
        (("attempts", "--after", "7"), None, [8, 9]),
        (("attempts", "--after", str(LAST)), None, []),
        (("attempts", "--outcome", "won"), None, WINS),
        (("--workspace", WORKSPACE, "attempts"), OTHER_WORKSPACE, [1, 2, 3, 4, 7, 8, 9]),
        (("--workspace", WORKSPACE, "attempts", "--outcome", "lost", "--after", "2"), None, [8, 9]),
        (("--workspace", "nobody's", "attempts"), None, []),
        (("attempts",), "nobody's", [*range(1, 10)]),
    ],
)
def test_attempts_can_be_told_which(
    shell: Shell, arguments: tuple[str, ...], workspace: str | None, expected: list[int]
) -> None:
    """The workspace in the environment is the callers': it hides nothing from an operator."""
    if workspace is not None:
        shell.environment["RESOLUTION_WORKSPACE"] = workspace
    assert sequences(shell.json(*arguments)) == expected


def followed(follower: subprocess.Popen[bytes], count: int) -> list[int]:
    assert follower.stdout is not None
    return [json.loads(follower.stdout.readline())["sequence"] for _ in range(count)]


def test_following_shows_each_attempt_once_and_in_order_while_others_write(
    shell: Shell, path: Path
) -> None:
    with shell.start("--json", "attempts", "--follow", "--after", "3") as follower:
        seen = followed(follower, 6)
        run_together(resolve_each, [(str(path), n, n, range(10, 30)) for n in (1, 2)])
        seen += followed(follower, 40)
        assert seen == list(range(4, 50))
        done = end(follower, signal.SIGINT)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "Interrupted."


def test_following_passes_over_what_was_not_asked_for(shell: Shell, path: Path) -> None:
    with shell.start("--json", "attempts", "--follow", "--outcome", "lost") as follower:
        assert followed(follower, 3) == [2, 8, 9]
        submit(path, Submission(WORKSPACE, 4, 1, 1, 7, "won"))
        submit(path, Submission(WORKSPACE, 4, 2, 2, 8, "lost"))
        assert followed(follower, 1) == [11]


def test_following_ends_with_its_ledger(shell: Shell, path: Path) -> None:
    with shell.start("--json", "attempts", "--follow") as follower:
        followed(follower, len(SUBMISSIONS))
        path.rename(path.with_name("moved.db"))
        done = end(follower)
    assert (done.returncode, done.stdout) == (1, "")
    assert "StoreUnavailable" in done.stderr


def test_following_ends_without_a_word_when_nobody_reads_any_more(shell: Shell, path: Path) -> None:
    with shell.start("--json", "attempts", "--follow") as follower:
        followed(follower, len(SUBMISSIONS))
        assert follower.stdout is not None
        follower.stdout.close()
        submit(path, Submission(WORKSPACE, 4, 1, 1, 7, "won"))
        assert follower.wait() != 0
        assert follower.stderr is not None
        assert follower.stderr.read() == b""


def test_replay_tells_machines_how_many_nanoseconds_behind_the_winner_each_was(
    shell: Shell,
) -> None:
    lines = shell.json("replay")
    behind = [line.pop("behind") for line in lines]
    assert behind == [0, 1_500_000, 2_000_000, 3_000_000, 4_000_000, 0, 0, 250_000, -2_000_000]
    assert lines == shell.json("attempts")
    one = shell.json("replay", str(instance(3)))
    assert [(line["sequence"], line["behind"]) for line in one] == [(7, 0), (8, 250_000)]


def test_replay_tells_people_how_many_milliseconds(shell: Shell) -> None:
    lines = shell.run("replay", str(instance(1))).stdout.splitlines()
    assert [("ms" in line) for line in lines] == [False, True, True, True, True, True]
    margins = [line.split(" ms ")[0].split()[-1] for line in lines[1:]]
    assert margins == ["+1.500", "+2.000", "+3.000", "+4.000", "-2.000"]
    for line, outcome in zip(lines, ["won", "lost", "replayed"], strict=False):
        assert line.startswith(str(instance(1)))
        assert f" {outcome} " in line
    assert len(shell.run("replay").stdout.splitlines()) == len(SUBMISSIONS)


def test_replay_of_what_nobody_has_answered_is_empty(shell: Shell) -> None:
    done = shell.run("replay", str(instance(99)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_margins_are_right_for_any_two_ticks(shell: Shell, path: Path) -> None:
    ends = iter([-(2**63), LAST, LAST, -(2**63)])
    with ResolutionLedger.open(path, workspace=WORKSPACE, clock=lambda: next(ends)) as ledger:
        for i in (10, 11):
            ledger.resolve(record(i, 1, 1))
            ledger.resolve(record(i, 2, 2))
    behind = {line["instance"]: line["behind"] for line in shell.json("replay")}
    assert behind[str(instance(10))] == 2**64 - 1
    assert behind[str(instance(11))] == 1 - 2**64
    margins = {line["instance"]: line["margin"] for line in shell.json("contested")}
    assert margins[str(instance(11))] == 1 - 2**64
    assert "+18446744073709.551 ms" in shell.run("replay", str(instance(10))).stdout


def test_contested_prints_the_most_different_answers_first(shell: Shell) -> None:
    contests = [
        {
            "instance": str(instance(i)),
            "outcome": "won",
            "winner": str(response(1)),
            "reason": None,
            "answers": answers,
            "attempts": attempts,
            "margin": margin,
        }
        for i, answers, attempts, margin in ((1, 3, 4, -2_000_000), (3, 2, 1, 250_000))
    ]
    assert shell.json("contested") == contests
    assert shell.json("contested", "--limit", "1") == contests[:1]
    heading, *lines = shell.run("contested").stdout.splitlines()
    assert "milliseconds" in heading
    assert [line.split() for line in lines] == [
        [str(instance(1)), str(response(1)), "3", "4", "-2.000"],
        [str(instance(3)), str(response(1)), "2", "1", "0.250"],
    ]


def test_state_at_prints_the_wins_of_so_many_events(shell: Shell) -> None:
    wins = shell.json("attempts", "--outcome", "won")
    for length, count in ((0, 0), (5, 1), (6, 2), (len(SUBMISSIONS), 3)):
        assert shell.json("state-at", str(length)) == wins[:count]


def test_state_at_for_people_has_a_line_each(shell: Shell) -> None:
    lines = shell.run("state-at", str(len(SUBMISSIONS))).stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == WINS
