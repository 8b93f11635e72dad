"""``adopt`` on the command line, and what is refused until then."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from integration import one_row_program
from integration.shells import Shell
from resolution_ledger import LedgerAdmin
from samples import WORKSPACE, instance, response

ROWS = [one_row_program.row(i, 1, 1, i) for i in range(3)]
HOSTILE = "\x1b[2J\n\u202eexe\x9b"


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    return Shell(tmp_path, path, WORKSPACE)


def test_adopt_says_how_many_winners_it_has_taken_over(shell: Shell, path: Path) -> None:
    one_row_program.make_table(path, ROWS)
    done = shell.run("adopt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "adopted 3\n", "")
    assert [line["outcome"] for line in shell.json("attempts")] == ["adopted"] * 3
    assert shell.resolve(2, 2) == (11, {"outcome": "lost", "winner": str(response(1))})
    _, *losers = shell.run("replay", str(instance(1))).stdout.splitlines()
    assert len(losers) == 1
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean


def test_adopt_of_an_empty_table_makes_a_ledger(shell: Shell, path: Path) -> None:
    one_row_program.make_table(path, [])
    assert shell.json("adopt") == [{"adopted": 0}]
    assert shell.resolve(1, 1) == (0, {"outcome": "won"})


@pytest.mark.parametrize(
    "command",
    [
        ("resolve", str(instance(1)), str(response(2)), "--key", "k"),
        ("winner", str(instance(1))),
        ("attempts",),
        ("verify",),
        ("import",),
    ],
    ids=lambda command: command[0],
)
def test_until_then_all_else_exits_1_and_names_adopt(
    shell: Shell, path: Path, command: tuple[str, ...]
) -> None:
    one_row_program.make_table(path, ROWS)
    stdin = b""
    if command == ("import",):
        stdin = shell.run("--ledger", _ledger(shell.folder), "export").stdout.encode()
    done = shell.run(*command, stdin=stdin)
    assert (done.returncode, done.stdout) == (1, "")
    assert "adopt" in done.stderr
    with closing(one_row_program.connect(path)) as connection:
        assert one_row_program.table(connection) == sorted(ROWS)


def _ledger(folder: Path) -> str:
    """Some adopted ledger."""
    target = str(folder / "adopted.db")
    one_row_program.make_table(target, ROWS)
    with LedgerAdmin.open(target) as admin:
        admin.adopt()
    return target


def test_adopting_again_exits_1(shell: Shell, path: Path) -> None:
    shell.environment["RESOLUTION_LEDGER"] = _ledger(path.parent)
    done = shell.run("adopt")
    assert (done.returncode, done.stdout) == (1, "")
    assert "NothingToAdopt" in done.stderr


def test_rows_that_no_ledger_can_hold_exit_1_and_are_listed_with_escapes(
    shell: Shell, path: Path
) -> None:
    hostile = (f"{HOSTILE}{n}" for n in range(3))
    rows = [*ROWS, *((text, WORKSPACE, response(1).text, "k", 5) for text in hostile)]
    one_row_program.make_table(path, rows)
    before = path.read_bytes()
    done = shell.run("adopt")
    assert (done.returncode, done.stdout) == (1, "")
    assert "CannotAdopt" in done.stderr
    *listed, error = done.stderr.removesuffix("\n").split("\n")
    assert len(listed) == 3  # the other rows could be adopted
    assert all(line.isprintable() for line in (*listed, error))
    assert done.stderr.count("\\u202eexe") >= 3
    assert path.read_bytes() == before
