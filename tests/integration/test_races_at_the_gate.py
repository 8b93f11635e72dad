"""The gate is for fairness alone: who wins never depends on it, whoever has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from integration.racing import has_gate_file, have_no_gate, line_up, race
from resolution_ledger import ResolutionLedger

pytest.importorskip("fcntl")

THREADS, INSTANCES = 2, range(60)


@pytest.mark.parametrize(
    "processes",
    [
        [line_up] * 4,
        [have_no_gate] * 4,
        [line_up, have_no_gate] * 2,
        [line_up, *[have_no_gate] * 3],
    ],
    ids=["all", "none", "half of them", "one"],
)
def test_of_processes_that_race_one_wins_each_instance_whoever_has_a_gate(
    path: Path, ledger: ResolutionLedger, processes: Sequence[Callable[[], None]]
) -> None:
    ledger.create()
    race(path, THREADS, INSTANCES, processes)
    assert has_gate_file(path) == (line_up in processes)


@pytest.mark.parametrize("what", ["a directory", "a link"])
@pytest.mark.parametrize("others", [line_up, have_no_gate], ids=["cannot", "do not"])
def test_of_processes_that_race_one_wins_each_instance_where_no_gate_can_be_made(
    path: Path, ledger: ResolutionLedger, what: str, others: Callable[[], None]
) -> None:
    ledger.create()
    gate = path.with_name(f"{path.name}-gate")
    if what == "a directory":
        gate.mkdir()
    else:
        gate.symlink_to("nowhere")
    race(path, THREADS, INSTANCES, [line_up, line_up, others, others])
    assert not has_gate_file(path)
    assert not path.with_name("nowhere").exists()
