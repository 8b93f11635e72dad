"""Whatever is raised inside a call, at whatever moment: the ledger goes on, and so do others."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration import signals
from processes import run_alone

HANGING = 8.0
"""Seconds; a close that waited for a call that is over would take ten more than its timeout."""


@pytest.mark.parametrize("seed", range(3))
def test_an_exception_at_any_moment_leaves_no_lock_no_transaction_and_no_call(
    path: Path, seed: int
) -> None:
    left = run_alone(signals.call_under_fire, str(path), 1500, seed)
    assert left["errors"] == []
    assert left["locked"] == 0
    assert left["left open"] == 0
    assert left["closing"] < HANGING


def test_a_call_that_runs_out_of_stack_leaves_a_ledger_that_works(path: Path) -> None:
    assert run_alone(signals.call_near_the_end_of_the_stack, str(path)) == []


def test_a_fork_that_is_interrupted_makes_no_second_decider(path: Path) -> None:
    told = run_alone(signals.interrupt_a_fork, str(path))
    assert told == {"used in the child": 0, "parent": ["Won"] * 5 + ["Replayed"]}


@pytest.mark.parametrize("what", ["reads", "closes", "forks"])
def test_a_handler_may_use_the_ledger_whose_call_it_has_interrupted(path: Path, what: str) -> None:
    times = 150 if what == "forks" else 1500
    assert run_alone(signals.handle_by_using_the_ledger, str(path), what, times) == times


def test_a_child_that_was_forked_inside_a_write_holds_no_lock(path: Path) -> None:
    assert run_alone(signals.fork_inside_a_write, str(path), 200) == []
