"""The rule table, row by row: what is answered, and what goes on record."""

from __future__ import annotations

import pytest

from answers import Answer, answer, outcomes
from contract.backends import OpenLedger
from resolution_ledger import (
    IdempotencyConflict,
    Lost,
    OutsideWorkspace,
    RecordedAttempt,
    ResolutionLedger,
    Won,
)
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response

TICK = 1_700_000_000_000_000_000


def test_the_first_attempt_wins(ledger: ResolutionLedger) -> None:
    assert ledger.resolve(record(1, 1, 1)) == Won()
    assert ledger.winner(instance(1)) == response(1)


@pytest.mark.parametrize(
    ("r", "k", "told", "outcome"),
    [
        pytest.param(1, 2, ("replayed", response(1), False), "replayed", id="row-3"),
        pytest.param(
            2, 1, ("conflict", key(1), response(1), response(2)), "conflicted", id="row-4"
        ),
        pytest.param(2, 2, ("lost", response(1)), "lost", id="row-5"),
    ],
)
def test_each_row_gives_its_answer_and_its_event(
    ledger: ResolutionLedger, r: int, k: int, told: Answer, outcome: str
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert answer(ledger, record(1, r, k)) == told
    assert outcomes(ledger.history(instance(1))) == ["won", outcome]
    assert ledger.winner(instance(1)) == response(1)


@pytest.mark.parametrize(("r", "k"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_row_2_another_workspace_is_told_nothing_of_the_winner(
    ledger: ResolutionLedger, other: ResolutionLedger, r: int, k: int
) -> None:
    ledger.resolve(record(1, 1, 1))
    with pytest.raises(OutsideWorkspace) as refusal:
        other.resolve(record(1, r, k))
    assert vars(refusal.value) == {"instance": instance(1), "workspace": OTHER_WORKSPACE}
    assert WORKSPACE not in str(refusal.value)
    assert response(1).text not in str(refusal.value)
    assert outcomes(other.history(instance(1))) == ["fenced"]


def test_a_replayed_attempt_under_its_own_key_and_one_under_another_differ(
    ledger: ResolutionLedger,
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert answer(ledger, record(1, 1, 1)) == ("replayed", response(1), True)
    assert answer(ledger, record(1, 1, 2)) == ("replayed", response(1), False)
    assert answer(ledger, record(1, 1, 1)) == ("replayed", response(1), True)


@pytest.mark.parametrize("first_user", [1, 2], ids=["replayed", "lost"])
def test_a_key_belongs_to_whoever_used_it_first_even_without_winning(
    ledger: ResolutionLedger, first_user: int
) -> None:
    ledger.resolve(record(1, 1, 1))
    answer(ledger, record(1, first_user, 7))
    with pytest.raises(IdempotencyConflict) as refusal:
        ledger.resolve(record(1, 3, 7))
    assert refusal.value.key == key(7)
    assert refusal.value.existing == response(first_user)
    assert refusal.value.presented == response(3)


def test_the_winner_may_use_a_key_that_a_loser_owns(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 7))
    assert answer(ledger, record(1, 1, 7)) == ("replayed", response(1), False)
    assert answer(ledger, record(1, 2, 7)) == ("lost", response(1))


def test_a_conflicting_attempt_does_not_own_its_key(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 7))
    assert answer(ledger, record(1, 3, 7))[0] == "conflict"
    assert answer(ledger, record(1, 2, 7)) == ("lost", response(1))
    assert answer(ledger, record(1, 4, 7)) == ("conflict", key(7), response(2), response(4))


def test_a_fenced_attempt_does_not_own_its_key(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert answer(other, record(1, 2, 7))[0] == "outside"
    assert answer(ledger, record(1, 3, 7)) == ("lost", response(1))


def test_keys_of_different_instances_have_nothing_to_do_with_each_other(
    ledger: ResolutionLedger,
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert ledger.resolve(record(2, 2, 1)) == Won()
    assert ledger.resolve(record(2, 1, 2)) == Lost(response(2))
    assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("key", "KEY"), ("key", "key "), ("\u00e9", "e\u0301"), ("a", "\uff41"), ("k%", "k_")],
)
def test_keys_are_compared_by_code_point(ledger: ResolutionLedger, mine: str, theirs: str) -> None:
    first, second = record(1, 1, 1), record(1, 2, 2)
    first = type(first)(first.instance, first.response, type(first.idempotency_key)(mine))
    second = type(second)(second.instance, second.response, type(second.idempotency_key)(theirs))
    ledger.resolve(first)
    assert ledger.resolve(second) == Lost(response(1))


def test_an_attempt_is_recorded_with_everything_that_was_claimed(
    open_ledger: OpenLedger,
) -> None:
    ledger = open_ledger(clock=lambda: TICK)
    ledger.resolve(record(1, 1, 1, "tty"))
    ledger.resolve(record(1, 2, 2, "web:7f3a"))
    assert ledger.history(instance(1)) == (
        RecordedAttempt(instance(1), 1, 1, "won", response(1), key(1), "tty", WORKSPACE, TICK),
        RecordedAttempt(
            instance(1), 2, 2, "lost", response(2), key(2), "web:7f3a", WORKSPACE, TICK
        ),
    )


def test_an_instance_that_nobody_answered_has_no_winner_and_no_history(
    ledger: ResolutionLedger,
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert ledger.winner(instance(2)) is None
    assert ledger.history(instance(2)) == ()
