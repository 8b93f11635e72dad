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


@pytest.mark.parametrize("nemeses", GROUPS)
def test_whatever_strikes_nothing_is_lost_and_nobody_wins_twice(
    tmp_path: Path, nemeses: str
) -> None:
    report = tortured(tmp_path, "--seed", str(SEED), "--rounds", "2", "--only", nemeses)
    assert report["races"] > 50
    assert report["failures"] == []
    assert report["calls"]["Won"] > 20
    silent = [
        name
        for name in nemeses.split(",")
        if not report["struck"][name] and name not in report["skipped"]
    ]
    assert silent == []


def test_the_choices_of_a_round_come_from_the_seed_and_its_number_alone() -> None:
    assert plan_round(3, 14) == plan_round(3, 14)
    assert plan_round(3, 14) != plan_round(3, 15)
    assert plan_round(3, 14) != plan_round(4, 14)


def test_the_short_run_has_every_nemesis() -> None:
    assert sorted(name for group in GROUPS for name in group.split(",")) == sorted(EVERY)
