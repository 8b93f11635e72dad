"""The benchmarks work, and take the options that the documentation gives. How fast is not asked."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text()

PARSE = """
import sys
from benchmarks.__main__ import parse
parse(sys.argv[1:])
"""

CROWD = """
import sys
from pathlib import Path
from benchmarks.crew import started
from benchmarks.kinds import KINDS
scratch = Path(sys.argv[1])
with started(2, scratch) as crew:
    for kind in KINDS.values():
        crowd = crew.run(kind, "full", processes=2, threads=2, seconds=0.1)
        assert 0 <= crowd.fairness <= 1
        assert 0 < crowd.p99 <= crowd.p99_by_time <= crowd.longest
        assert crowd.longest < 60_000
assert not list(scratch.iterdir())
"""

BUILD = """
import sys
from pathlib import Path
from benchmarks import big_ledger
from benchmarks.submissions import Minter
from resolution_ledger import LedgerAdmin
big_ledger._BATCH = 7
path = Path(sys.argv[1])
won = [big_ledger.nth(number) for number in range(2)]
records = {
    "wins": big_ledger.wins(200),
    "mixed": big_ledger.mixed(100),
    "crowded": big_ledger.crowded(won, 50, Minter(1_000)),
}[sys.argv[2]]
big_ledger.build(path, records)
with LedgerAdmin.open(path) as admin:
    report = admin.verify()
print(report.length, report.count)
"""


def python(*arguments: str | Path) -> str:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_what_was_measured_is_printed_written_read_again_and_compared(tmp_path: Path) -> None:
    written = tmp_path / "results.json"
    parts = "attempts,bytes,opening,cold-start"
    options = ("--only", parts, "--dir", tmp_path, "--json", written)
    printed = python("-m", "benchmarks", "--quick", *options)
    figures = json.loads(written.read_text())["figures"]
    assert len({figure["part"] for figure in figures}) == 4
    assert all(len(figure["values"]) == 1 for figure in figures)
    again = python("-m", "benchmarks", "--read", written, "--compare", written)
    assert again.startswith(printed)
    changes = again.removeprefix(printed).splitlines()
    assert len(changes) == len(figures) + 2
    assert list(tmp_path.iterdir()) == [written]


def test_processes_of_threads_compete(tmp_path: Path) -> None:
    python("-c", CROWD, tmp_path)


@pytest.mark.parametrize(("what", "events"), [("wins", 200), ("mixed", 100), ("crowded", 100)])
def test_a_large_ledger_is_built_as_calls_would_have_made_it(
    tmp_path: Path, what: str, events: int
) -> None:
    assert python("-c", BUILD, tmp_path / "built.db", what).split() == [str(events), "0"]


def test_the_commands_of_the_page_parse() -> None:
    commands = re.findall(r"^\.venv/bin/python -m benchmarks (.*)$", PAGE, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        python("-c", PARSE, *shlex.split(command))


def test_make_knows_what_the_page_tells_it_to_make() -> None:
    commands = re.findall(r"^make (\S+)$", PAGE, re.MULTILINE)
    assert commands == ["bench", "bench-large", "bench-short"]
    subprocess.run(
        ["make", "--dry-run", *commands], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    assert "make bench-short" in (ROOT / ".ci" / "run").read_text().splitlines()
