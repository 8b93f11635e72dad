"""Bugs that somebody could make: the harness finds each within a minute."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from integration import planted

ROOT = Path(__file__).parents[2]

PLANTS = {
    planted.deferred_begin: ("held lock,kill", "StoreBusy, after"),
    planted.read_model_in_a_second_transaction: ("kill,kill in the commit", "Finding(kind="),
    planted.no_key_check: ("stepped clock", "is owned by"),
    planted.no_roll_back: ("interrupt,interrupt a thread,full database", "Finding(kind="),
}
"""What finds it, and how that shows."""


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(tmp_path: Path, plant: object) -> None:
    """By what it does, which the sign is of; sound rounds are in ``test_torture.py``."""
    nemeses, sign = PLANTS[plant]
    name = f"{planted.__name__}:{plant.__name__}"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "torture", "--seed", "3", "--duration", "60"),
            *("--only", nemeses, "--plant", name, "--until-failure", "--dir", str(tmp_path)),
            *("--report", str(tmp_path / "report.json")),
        ],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert sign in run.stdout
    # It can be looked into, and tried again.
    (failure,) = msgspec.json.decode((tmp_path / "report.json").read_bytes())["failures"]
    command = f"python -m torture --seed 3 --round {failure['round']} --only '{nemeses}'"
    assert failure["command"] == command
    assert command in run.stdout
    assert failure["reasons"] in run.stdout
    assert Path(failure["directory"], "ledger", "ledger.db").exists()
    assert [*Path(failure["directory"], "calls").iterdir()]
