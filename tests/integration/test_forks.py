"""Forks: whatever the moment, parent and child never both win."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from integration import fork_scenarios
from integration.fork_scenarios import RACED
from processes import Answers, run_alone
from resolution_ledger import Lost, ResolutionLedger, Won
from samples import instance, response

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")

RACES = [
    fork_scenarios.parent_and_child_race,
    fork_scenarios.siblings_race,
    fork_scenarios.child_and_stranger_race_after_the_parent_closed,
]


@pytest.mark.parametrize("scenario", RACES)
def test_of_processes_that_raced_after_a_fork_one_won_each_instance(
    path: Path, ledger: ResolutionLedger, scenario: Callable[..., list[Answers]]
) -> None:
    told: list[Answers] = run_alone(scenario, str(path))
    for place, n in enumerate(RACED):
        answers = [answers[place] for answers in told]
        winner = ledger.winner(instance(n))
        assert winner is not None
        assert answers.count(Won()) == 1
        assert answers.count(Lost(winner)) == len(told) - 1
        history = ledger.history(instance(n))
        assert [attempt.position for attempt in history] == list(range(1, len(told) + 1))


def test_a_fork_waits_for_calls_of_other_threads(path: Path) -> None:
    told: dict[str, Any] = run_alone(fork_scenarios.fork_while_another_thread_resolves, str(path))
    assert told["thread"] == [Won()]
    assert told["child"] == {"inherited": 0, "sees": response(1), "told": Won()}
    assert told["parent"] == Won()


def test_a_fork_does_not_wait_for_ever_and_the_child_is_refused_the_file(path: Path) -> None:
    told: dict[str, Any] = run_alone(fork_scenarios.fork_while_another_thread_is_stuck, str(path))
    assert told["child"] == {
        **dict.fromkeys(["resolve", "winner", "another object"], "StoreUnavailable"),
        "close": None,
    }
    assert told["thread"] == [Won()]
    assert told["parent"] == Won()


def test_a_child_that_was_forked_inside_a_call_is_refused_the_file_and_the_parent_goes_on(
    path: Path,
) -> None:
    told: dict[str, Any] = run_alone(fork_scenarios.fork_inside_the_clock, str(path))
    assert told["child"] == {
        "the call": "StoreUnavailable",
        "resolve": "StoreUnavailable",
        "winner": "StoreUnavailable",
        "history": "StoreUnavailable",
        "another object": "StoreUnavailable",
        "close": None,
    }
    assert told["told"] == [Won()]
    assert told["outcomes"] == ["won"]
    assert told["child's instance"] is None
    assert told["next"] == Won()


@pytest.mark.parametrize("used", ["used", "unused"])
def test_a_ledger_in_memory_is_refused_in_the_child_and_goes_on_in_the_parent(used: str) -> None:
    told: dict[str, Any] = run_alone(fork_scenarios.fork_with_a_ledger_in_memory, used)
    assert told["child"] == {
        **dict.fromkeys(["resolve", "again", "winner", "history", "losers"], "StoreUnavailable"),
        "close": None,
        "a new one": Won(),
    }
    assert told["parent"] == Won()


@pytest.mark.parametrize(
    ("guard", "inherited"),
    [("guarded", []), ("unguarded", [True, True])],
    ids=["guarded", "unguarded"],
)
def test_an_open_connection_would_cross_a_fork_but_for_the_guard(
    path: Path, guard: str, inherited: list[bool]
) -> None:
    told = run_alone(fork_scenarios.fork_with_connections_idle, str(path), guard)
    assert told == inherited


def test_no_connection_crosses_a_fork_while_another_thread_is_closing_it(path: Path) -> None:
    assert True not in run_alone(fork_scenarios.fork_while_another_thread_closes, str(path))


@pytest.mark.parametrize(
    "scenario",
    [
        fork_scenarios.fork_while_another_thread_forks,
        fork_scenarios.fork_while_another_thread_opens,
    ],
)
def test_no_connection_is_opened_between_the_draining_and_the_fork(
    path: Path, scenario: Callable[..., list[bool]]
) -> None:
    assert True not in run_alone(scenario, str(path))


def test_a_connection_of_a_ledger_that_was_closed_inside_a_call_crosses_no_fork(
    path: Path,
) -> None:
    told = run_alone(fork_scenarios.close_inside_the_clock_and_fork, str(path))
    assert told == [False]
