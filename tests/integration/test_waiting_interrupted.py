"""Whatever interrupts a wait, at whatever moment: nobody is left, and nobody waits for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from integration import waiters
from processes import run_alone
from resolution_ledger import Closed
from samples import response


@pytest.mark.parametrize("seed", range(3))
def test_an_exception_at_any_moment_leaves_nobody_who_waits(path: Path, seed: int) -> None:
    left = run_alone(waiters.wait_under_fire, str(path), 1500, seed)
    assert left == {"left": 0, "told": response(1)}


@pytest.mark.parametrize(
    ("what", "told"),
    [("resolves", response(1)), ("waits", response(1)), ("closes", Closed("withdrawn"))],
)
def test_a_handler_may_use_the_ledger_that_is_waited_for(
    path: Path, what: str, told: object
) -> None:
    assert run_alone(waiters.wait_and_handle, str(path), what, 200) == [told] * 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_of_a_process_in_which_somebody_waits_can_wait_and_resolve(path: Path) -> None:
    told = run_alone(waiters.fork_while_a_thread_waits, str(path))
    assert told == {
        "child": [0, 0, None, "Won", response(3), response(2)],
        "parent": response(2),
        "thread": [response(1)],
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_after_a_fork_inside_a_wait_both_processes_wait_on(path: Path) -> None:
    assert run_alone(waiters.fork_inside_a_wait, str(path)) == [response(1), "True 0"]
