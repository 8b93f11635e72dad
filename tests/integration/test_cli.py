"""The command line, run as a shell runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from integration.shells import Shell
from resolution_ledger import ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    return Shell(tmp_path, path, WORKSPACE)


def test_each_answer_to_resolve_has_its_exit_status_and_object(shell: Shell) -> None:
    winner = str(response(1))
    assert shell.resolve(1, 1) == (0, {"outcome": "won"})
    assert shell.resolve(1, 1) == (10, {"outcome": "replayed", "winner": winner, "own": True})
    assert shell.resolve(1, 2) == (10, {"outcome": "replayed", "winner": winner, "own": False})
    assert shell.resolve(2, 3) == (11, {"outcome": "lost", "winner": winner})
    assert shell.resolve(2, 1) == (
        12,
        {
            "outcome": "conflicted",
            "key": str(key(1)),
            "existing": winner,
            "presented": str(response(2)),
        },
    )
    fenced = shell.resolve(1, 1, RESOLUTION_WORKSPACE=OTHER_WORKSPACE)
    assert fenced == (13, {"outcome": "fenced"})


def test_only_a_win_lets_the_shell_go_on(shell: Shell) -> None:
    outputs = []
    for r in (1, 1, 2):
        done = shell.script(
            "if ledger resolve $0 $1 --key $2; then echo act; fi",
            *(str(instance(1)), str(response(r)), str(key(r))),
        )
        assert done.returncode == 0
        outputs.append(done.stdout.splitlines())
    assert [lines[-1] == "act" for lines in outputs] == [True, False, False]


@pytest.mark.parametrize(
    "arguments",
    [
        ("resolve", "nonsense", str(response(1)), "--key", "k"),
        ("resolve", str(instance(1)).upper(), str(response(1)), "--key", "k"),
        ("resolve", str(instance(1)), str(response(1)), "--key", ""),
        ("resolve", str(instance(1)), str(response(1)), "--key", "k" * 513),
        ("resolve", str(instance(1)), str(response(1)), "--key", "k", "--by", "b" * 513),
        ("resolve", str(instance(1)), str(response(1))),
        ("winner", "nonsense"),
        ("history", ""),
        ("losers", "--limit", "0"),
        ("mint", "{"),
        ("mint", '{"a": 1, "a": 2}'),
        ("mint", "NaN"),
        ("mint", '{"/": "nonsense"}'),
        ("--workspace", "", "losers"),
        ("--ledger", "mongodb://somewhere", "losers"),
        ("--ledger", ":memory:", "resolve", str(instance(1)), str(response(1)), "--key", "k"),
        ("unheard-of",),
    ],
)
def test_a_usage_error_exits_2_says_why_and_leaves_no_file(
    shell: Shell, path: Path, arguments: tuple[str, ...]
) -> None:
    done = shell.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert not path.exists()


def test_arguments_that_are_not_utf8_are_a_usage_error(shell: Shell) -> None:
    key_bytes = os.fsdecode(b"\xff")
    done = shell.run("resolve", str(instance(1)), str(response(1)), "--key", key_bytes)
    assert done.returncode == 2


@pytest.mark.parametrize("missing", ["RESOLUTION_LEDGER", "RESOLUTION_WORKSPACE"])
def test_a_missing_option_is_named_with_its_variable(shell: Shell, missing: str) -> None:
    del shell.environment[missing]
    done = shell.run("losers")
    assert done.returncode == 2
    assert missing in done.stderr


@pytest.mark.parametrize("command", [("winner", str(instance(1))), ("losers",)])
def test_reading_where_there_is_no_ledger_exits_1_and_creates_none(
    shell: Shell, path: Path, command: tuple[str, ...]
) -> None:
    done = shell.run(*command)
    assert (done.returncode, done.stdout) == (1, "")
    assert "StoreUnavailable" in done.stderr
    assert not path.exists()


def test_a_file_that_is_no_database_exits_1(shell: Shell, path: Path) -> None:
    path.write_bytes(b"something else " * 100)
    done = shell.run("resolve", str(instance(1)), str(response(1)), "--key", "k")
    assert done.returncode == 1
    assert "NotALedger" in done.stderr


def test_winner_prints_the_response_and_nothing_while_there_is_none(shell: Shell) -> None:
    shell.resolve(1, 1)
    assert shell.run("winner", str(instance(1))).stdout == f"{response(1)}\n"
    nobody = shell.run("winner", str(instance(2)))
    assert (nobody.returncode, nobody.stdout) == (0, "")
    assert shell.json("winner", str(instance(2))) == [
        {"instance": str(instance(2)), "winner": None}
    ]


def test_history_prints_every_fact_of_the_attempts(shell: Shell) -> None:
    shell.resolve(1, 1)
    shell.resolve(2, 2)
    won, lost = shell.json("history", str(instance(1)))
    ticks = won.pop("tick"), lost.pop("tick")
    assert 0 < ticks[0] <= ticks[1]
    common = {
        "instance": str(instance(1)),
        "submitted_by": "tty",
        "workspace": WORKSPACE,
        "reason": None,
    }
    assert won == common | {
        "position": 1,
        "sequence": 1,
        "outcome": "won",
        "response": str(response(1)),
        "idempotency_key": str(key(1)),
    }
    assert lost == common | {
        "position": 2,
        "sequence": 2,
        "outcome": "lost",
        "response": str(response(2)),
        "idempotency_key": str(key(2)),
    }


def test_losers_leaves_replays_out_and_shows_the_newest_first(shell: Shell) -> None:
    for r, k in ((1, 1), (2, 2), (1, 3), (3, 4)):
        shell.resolve(r, k)
    assert [line["sequence"] for line in shell.json("losers")] == [4, 2]
    assert [line["sequence"] for line in shell.json("losers", "--limit", "1")] == [4]


def test_a_table_in_a_pipe_cuts_no_id(shell: Shell) -> None:
    shell.resolve(1, 1)
    lines = shell.run("history", str(instance(1))).stdout.splitlines()
    assert len(lines) == 2
    assert str(instance(1)) in lines[1]
    assert str(response(1)) in lines[1]


@pytest.mark.parametrize(
    "label", ["\x1b[2J\x1b[H", "a\nb", "\u202egnp.exe", "[red]x[/red]", "\x9b"]
)
def test_a_hostile_label_cannot_move_the_cursor_or_add_a_line(
    shell: Shell, path: Path, label: str
) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1, label))
    done = shell.run("history", str(instance(1)))
    assert len(done.stdout.splitlines()) == 2
    assert done.stdout.replace("\n", "").isprintable()
    (attempt,) = shell.json("history", str(instance(1)))
    assert attempt["submitted_by"] == label


def test_output_to_a_terminal_of_few_letters_does_not_fail(shell: Shell, path: Path) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1, "Zoë ☃"))
    done = shell.run("history", str(instance(1)), PYTHONIOENCODING="ascii")
    assert done.returncode == 0


def test_the_output_may_be_closed_early(shell: Shell) -> None:
    shell.resolve(1, 1)
    done = shell.script("ledger --json history $0 | true", str(instance(1)))
    assert "BrokenPipe" not in done.stderr


def test_without_the_extra_the_command_says_what_to_install(shell: Shell) -> None:
    hide_click = "import sys; sys.modules['click'] = None; sys.argv[0] = 'resolution-ledger';"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{hide_click} from resolution_ledger.__main__ import main; sys.exit(main())",
            "losers",
        ],
        env=shell.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "pip install 'resolution-ledger[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("command", "statuses"),
    [
        ("resolve", ["0", "10", "11", "12", "13", "14", "1", "2"]),
        ("withdraw", ["0", "14", "11", "13", "1", "2"]),
        ("wait", ["0", "14", "15", "13", "1", "2"]),
    ],
)
def test_help_names_every_exit_status(shell: Shell, command: str, statuses: list[str]) -> None:
    text = shell.run(command, "--help").stderr
    assert re.findall(r"\b\d+\b", text)[: len(statuses)] == statuses


@pytest.mark.parametrize("injected", ["--help", "-h"])
def test_a_response_that_asks_for_help_does_not_look_like_a_win(
    shell: Shell, injected: str
) -> None:
    done = shell.run("resolve", str(instance(1)), injected, "--key", "k")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("redirection", "status"), [(">/dev/full", 1), (">&-", 1), ("<&-", 0), ("2>&-", 0)]
)
def test_a_stream_that_does_not_work_is_no_traceback(
    shell: Shell, redirection: str, status: int
) -> None:
    done = shell.script(
        f"ledger resolve $0 $1 --key k {redirection}", str(instance(1)), str(response(1))
    )
    if redirection != ">&-":  # what Python does without a standard output varies
        assert done.returncode == status
    assert shell.run("winner", str(instance(1))).stdout == f"{response(1)}\n"
