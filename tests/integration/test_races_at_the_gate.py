"""The gate is for fairness alone: who wins never depends on it, whoever has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.racing import has_gate_file, resolve_in_threads, see_that_one_won_each
from processes import run_together
from resolution_ledger import ResolutionLedger

PROCESSES, THREADS, INSTANCES = 4, 2, range(60)

pytest.importorskip("fcntl")


@pytest.mark.parametrize(
    ("gated", "place"),
    [
        ([True, True, True, True], "free"),
        ([False, False, False, False], "free"),
        ([True, False, True, False], "free"),
        ([True, False, False, False], "free"),
        ([True, True, True, True], "a directory"),
        ([True, True, True, True], "a link to nowhere"),
        ([True, True, False, False], "a directory"),
    ],
    ids=[
        "all have one",
        "no system has one",
        "half of the processes have one",
        "one process has one",
        "none can be made since a directory has its name",
        "none can be made since a link has its name",
        "none can be made where there could be one",
    ],
)
def test_of_processes_that_race_one_wins_each_instance_whoever_lines_up(
    path: Path, ledger: ResolutionLedger, gated: list[bool], place: str
) -> None:
    ledger.create()
    gate = path.with_name(f"{path.name}-gate")
    if place == "a directory":
        gate.mkdir()
    elif place == "a link to nowhere":
        gate.symlink_to("nowhere")
    told = run_together(
        resolve_in_threads,
        [(str(path), n, THREADS, INSTANCES, gated[n]) for n in range(PROCESSES)],
    )
    see_that_one_won_each(path, [one for process in told for one in process], INSTANCES)
    assert has_gate_file(path) == (any(gated) and place == "free")
    assert not path.with_name("nowhere").exists()
