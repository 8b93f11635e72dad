"""Independent processes race for instances, with nothing between them but the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import Answers, resolve_each, run_together
from resolution_ledger import Lost, Replayed, ResolutionLedger, ResponseId, Won
from samples import instance, response


@pytest.mark.parametrize(("processes", "instances"), [(2, 100), (8, 150), (16, 30)])
def test_of_many_processes_exactly_one_wins_each_instance(
    path: Path,
    ledger: ResolutionLedger,
    foreign: Callable[[], sqlite3.Connection],
    processes: int,
    instances: int,
) -> None:
    told: list[Answers] = run_together(
        resolve_each, [(str(path), n, n, range(instances)) for n in range(processes)]
    )
    winners = dict(
        foreign().execute("SELECT instance_id, response_id FROM interaction_resolutions")
    )
    assert len(winners) == instances
    assert sum(answers.count(Won()) for answers in told) == instances
    for n in range(instances):
        winner = ResponseId(winners[instance(n).text])
        assert told[_number_of(winner, processes)][n] == Won()
        assert [answers[n] for answers in told].count(Lost(winner)) == processes - 1
        history = ledger.history(instance(n))
        assert [attempt.position for attempt in history] == list(range(1, processes + 1))
        assert [attempt.outcome for attempt in history] == ["won"] + ["lost"] * (processes - 1)
        assert history[0].response == winner
    sequences = [a.sequence for n in range(instances) for a in ledger.history(instance(n))]
    assert sorted(sequences) == list(range(1, processes * instances + 1))


def test_one_submission_sent_by_many_processes_wins_once_and_is_recorded_once(
    path: Path, ledger: ResolutionLedger
) -> None:
    told: list[Answers] = run_together(resolve_each, [(str(path), 1, 1, range(50))] * 4)
    for n in range(50):
        answers = [answers[n] for answers in told]
        assert answers.count(Won()) == 1
        assert answers.count(Replayed(response(1), own=True)) == 3
        assert len(ledger.history(instance(n))) == 1


def test_one_response_sent_by_many_processes_under_keys_of_their_own_wins_once(
    path: Path, ledger: ResolutionLedger
) -> None:
    told: list[Answers] = run_together(
        resolve_each, [(str(path), 1, k, range(50)) for k in range(4)]
    )
    for n in range(50):
        answers = [answers[n] for answers in told]
        assert answers.count(Won()) == 1
        assert answers.count(Replayed(response(1), own=False)) == 3
        assert len(ledger.history(instance(n))) == 4


def _number_of(winner: ResponseId, processes: int) -> int:
    return [response(n) for n in range(processes)].index(winner)
