"""Processes answer instances that others close at the same moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.closers import (
    settle_each,
    settle_from_both_sides,
    settle_in_threads,
    withdraw_each,
)
from integration.racing import see_that_it_is_sound
from processes import run_together
from resolution_ledger import (
    Closed,
    LedgerAdmin,
    Lost,
    RecordedAttempt,
    ResolutionLedger,
    Withdrawn,
    Won,
)
from resolution_ledger.domain.records import Reason
from samples import instance, response
from submissions import Outcome


@pytest.mark.parametrize(("processes", "instances"), [(8, 150), (1, 100)])
def test_of_answers_and_a_withdrawal_at_the_same_moment_exactly_one_is_first(
    path: Path,
    ledger: ResolutionLedger,
    foreign: Callable[[], sqlite3.Connection],
    processes: int,
    instances: int,
) -> None:
    """And all others are told which. Sometimes it is this one, sometimes that."""
    *answers, endings = run_together(
        settle_each,
        [(str(path), number, range(instances)) for number in (*range(processes), None)],
    )
    closed = set()
    sequences = []
    with LedgerAdmin.open(path) as admin:
        for n in range(instances):
            told = [answers[number][n] for number in range(processes)]
            history = admin.history(instance(n))
            assert ledger.history(instance(n)) == history
            assert [a.position for a in history] == [*range(1, processes + 2)]
            sequences += [a.sequence for a in history]
            if history[0].outcome == "closed":
                closed.add(n)
                closed_for_everybody(history, told, endings[n])
                assert ledger.winner(instance(n)) is None
            else:
                won_for_everybody(history, told, endings[n])
                assert ledger.winner(instance(n)) == history[0].response
        assert admin.verify().findings == ()
    assert sorted(sequences) == [*range(1, instances * (processes + 1) + 1)]
    assert closed >= {*range(0, instances, 10)}
    assert closed.isdisjoint(range(1, instances, 10))
    rows = [
        {row for (row,) in foreign().execute(f"SELECT instance_id FROM {table}")}  # noqa: S608
        for table in ("closed_instances", "interaction_resolutions")
    ]
    assert rows[0] == {instance(n).text for n in closed}
    assert rows[1] == {instance(n).text for n in {*range(instances)} - closed}


@pytest.mark.parametrize(("processes", "instances"), [(2, 100), (8, 40), (32, 8)])
def test_of_the_threads_of_several_processes_one_is_first_where_one_of_them_closes(
    path: Path, ledger: ResolutionLedger, processes: int, instances: int
) -> None:
    """It is the last thread of the last process."""
    ledger.create()
    last = processes * 4 - 1
    numbers: list[int | None] = [*range(last), None]
    each = range(instances)
    told = run_together(
        settle_in_threads,
        [(str(path), numbers[n * 4 : n * 4 + 4], each) for n in range(processes)],
    )
    *answers, endings = [one for process in told for one in process]
    for n in each:
        history = ledger.history(instance(n))
        assert [a.position for a in history] == [*range(1, last + 2)]
        for_everybody = (
            closed_for_everybody if history[0].outcome == "closed" else won_for_everybody
        )
        for_everybody(history, [answers[number][n] for number in range(last)], endings[n])
    see_that_it_is_sound(path, instances * (last + 1))


def closed_for_everybody(
    history: tuple[RecordedAttempt, ...], told: list[Outcome], end: Outcome
) -> None:
    """Nobody has won, and everybody was told so."""
    assert end == Withdrawn()
    assert told == [Closed("expired")] * len(told)
    assert [a.outcome for a in history] == ["closed", *["late"] * len(told)]
    assert (history[0].reason, history[0].submitted_by) == ("expired", "timer")
    assert {a.response for a in history[1:]} == {response(r) for r in range(len(told))}


def won_for_everybody(
    history: tuple[RecordedAttempt, ...], told: list[Outcome], end: Outcome
) -> None:
    """One response has won, and everybody else was told so, whoever wanted to close it too."""
    winner = history[0].response
    assert winner is not None
    assert end == Lost(winner)
    assert told == [Won() if response(r) == winner else Lost(winner) for r in range(len(told))]
    assert history[0].outcome == "won"
    assert sorted(a.outcome for a in history[1:]) == [
        *["lost"] * (len(told) - 1),
        "withdrawal-lost",
    ]
    assert {a.response for a in history} == {None, *(response(r) for r in range(len(told)))}


def test_one_withdrawal_sent_by_many_processes_closes_once_and_is_recorded_once(
    path: Path, ledger: ResolutionLedger
) -> None:
    told = run_together(withdraw_each, [(str(path), "expired", range(50))] * 4)
    for n in range(50):
        answers = [answers[n] for answers in told]
        assert answers.count(Withdrawn()) == 1
        assert answers.count(Closed("expired")) == 3
        assert len(ledger.history(instance(n))) == 1


def test_of_withdrawals_for_different_reasons_all_are_told_the_one_that_counts(
    path: Path, ledger: ResolutionLedger
) -> None:
    """And both reasons are on record."""
    reasons: list[Reason] = ["expired", "withdrawn"] * 2
    told = run_together(withdraw_each, [(str(path), reason, range(50)) for reason in reasons])
    for n in range(50):
        answers = [answers[n] for answers in told]
        first, second = ledger.history(instance(n))
        assert first.reason is not None
        assert answers[reasons.index(first.reason) :: 2].count(Withdrawn()) == 1
        assert answers.count(Closed(first.reason)) == 3
        assert (first.outcome, second.outcome) == ("closed", "withdrawal-late")
        assert {first.reason, second.reason} == {"expired", "withdrawn"}


def test_between_two_workspaces_the_first_event_draws_the_fence_whatever_it_is(
    path: Path,
) -> None:
    """Two processes of each answer and close; all those of the other one stay outside."""
    told = run_together(settle_from_both_sides, [(str(path), n, range(60)) for n in range(4)])
    with LedgerAdmin.open(path) as admin:
        for n in range(60):
            first, *_ = history = admin.history(instance(n))
            inside = 0 if first.workspace == "ws-1" else 1
            ours = [told[number][n] for number in (inside, inside + 2)]
            assert [told[number][n] for number in (1 - inside, 3 - inside)] == [
                "OutsideWorkspace"
            ] * 2
            assert ours == (["Withdrawn", "Closed"] if first.reason else ["Lost", "Won"])
            outcomes = sorted(attempt.outcome for attempt in history[1:])
            own = "late" if first.reason else "withdrawal-lost"
            assert outcomes == sorted(["fenced", "withdrawal-fenced", own])
        assert admin.verify().findings == ()
