"""Places in the log: positions in an instance, sequence numbers in the whole ledger."""

from __future__ import annotations

from typing import get_args

import pytest

from answers import answer, everything, outcomes
from resolution_ledger import RecordedAttempt, ResolutionLedger
from resolution_ledger.domain.records import Outcome
from samples import instance, record
from submissions import Closing

INSTANCES = range(4)
CLOSED = 2


@pytest.fixture
def log(ledger: ResolutionLedger, other: ResolutionLedger) -> list[RecordedAttempt]:
    """What is on record after both workspaces sent the same to all instances, in turns.

    One of these they closed before that, and the others they tried to close afterwards.
    """
    sent = [
        record(n, r, k)
        for r, k in [(0, 0), (1, 1), (0, 1), (1, 0), (1, 1), (2, 2)]
        for n in INSTANCES
    ]
    closings = [
        Closing(instance(n), reason) for reason in ("expired", "withdrawn") for n in INSTANCES
    ]
    for one in [Closing(instance(CLOSED), "expired"), *sent, *closings]:
        turns = (ledger, other) if one.instance in (instance(1), instance(3)) else (other, ledger)
        for door in turns:
            answer(door, one)
    return everything((ledger, other), INSTANCES)


def test_sequence_runs_from_1_without_gaps_over_both_workspaces(
    log: list[RecordedAttempt],
) -> None:
    assert [attempt.sequence for attempt in log] == list(range(1, len(log) + 1))
    assert set(outcomes(log)) == set(get_args(Outcome)) - {"adopted"}


@pytest.mark.parametrize("n", INSTANCES)
def test_positions_run_from_1_without_gaps_over_both_workspaces(
    log: list[RecordedAttempt], n: int
) -> None:
    stream = [attempt for attempt in log if attempt.instance == instance(n)]
    assert [attempt.position for attempt in stream] == list(range(1, len(stream) + 1))
    assert len({attempt.workspace for attempt in stream}) == 2


def test_position_1_has_won_or_closed_and_no_other(log: list[RecordedAttempt]) -> None:
    for attempt in log:
        assert (attempt.outcome in ("won", "closed")) == (attempt.position == 1)
        if attempt.position == 1:
            assert (attempt.outcome == "closed") == (attempt.instance == instance(CLOSED))


def test_history_is_told_oldest_first(ledger: ResolutionLedger) -> None:
    for n in range(12):  # beyond 9, so that order as text would show
        ledger.resolve(record(1, n, n))
    assert [attempt.position for attempt in ledger.history(instance(1))] == list(range(1, 13))
