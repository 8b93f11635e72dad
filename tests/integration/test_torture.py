"""The harness that attacks the ledger, in short: every nemesis strikes, and everything holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from torture.nemeses.names import EVERY
from torture.plan import plan_round

ROOT = Path(__file__).parents[2]

GROUPS = (
    "kill,kill in the transaction,stop in the transaction,stepped clock,auditor",
    "kill in the commit,held lock,failing clock,fork",
    "kill in a write,endless reader,query only,exit with calls in flight",
    "interrupt,interrupt a thread,full database,checkpoint storm",
    "small files,replaced by a copy,read-only file",
    "replaced by a backup,closed directory",
    "full disk",
)
"""Every nemesis, in rounds of such as get on with each other."""

SEED = 20


def tortured(tmp_path: Path, *options: str) -> dict[str, Any]:
    """The report of a run, which has to end well."""
    report = tmp_path / "report.json"
    # A process of its own: it starts others, and pytest has threads.
    run = subprocess.run(
        [sys.executable, "-m", "torture", "--report", report, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    totals: dict[str, Any] = msgspec.json.decode(report.read_bytes())
    return totals


def silent_in(report: dict[str, Any], nemeses: list[str]) -> list[str]:
    """Those that have not struck, and were to."""
    assert report["failures"] == []
    return [n for n in nemeses if not report["struck"][n] and n not in report["skipped"]]


@pytest.mark.parametrize("nemeses", GROUPS)
def test_whatever_strikes_nothing_is_lost_and_nobody_wins_twice(
    tmp_path: Path, nemeses: str
) -> None:
    """In two rounds, and in some more if one of them has had no chance on a busy machine."""
    options = "--seed", str(SEED), "--only", nemeses
    report = tortured(tmp_path, *options, "--rounds", "2")
    assert report["races"] > 50
    assert report["calls"]["Won"] > 20
    silent = silent_in(report, nemeses.split(","))
    for number in range(2, 12):
        if silent:
            silent = silent_in(tortured(tmp_path, *options, "--round", str(number)), silent)
    assert silent == []


def test_the_choices_of_a_round_come_from_the_seed_and_its_number_alone() -> None:
    assert plan_round(3, 14) == plan_round(3, 14)
    assert plan_round(3, 14) != plan_round(3, 15)
    assert plan_round(3, 14) != plan_round(4, 14)


def test_the_short_run_has_every_nemesis() -> None:
    assert sorted(name for group in GROUPS for name in group.split(",")) == sorted(EVERY)
