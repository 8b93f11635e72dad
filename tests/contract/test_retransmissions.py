"""The same submission, sent again: the same answer, and nothing more on record."""

from __future__ import annotations

import pytest

from contract.answers import Answer, answer, everything
from resolution_ledger import ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response

FIRST = {
    "won": (WORKSPACE, 1, 1),
    "replayed": (WORKSPACE, 1, 2),
    "lost": (WORKSPACE, 2, 3),
    "conflicted": (WORKSPACE, 3, 3),
    "fenced": (OTHER_WORKSPACE, 2, 3),
}
"""One submission of each outcome, in an order in which they come to just that."""

AGAIN: dict[str, Answer] = {
    "won": ("replayed", response(1), True),
    "replayed": ("replayed", response(1), False),
    "lost": ("lost", response(1)),
    "conflicted": ("conflict", key(3), response(2), response(3)),
    "fenced": ("outside", instance(1), OTHER_WORKSPACE),
}


@pytest.mark.parametrize("outcome", FIRST)
@pytest.mark.parametrize("times", [1, 5])
def test_a_retransmission_is_answered_alike_and_leaves_no_trace(
    ledger: ResolutionLedger, other: ResolutionLedger, outcome: str, times: int
) -> None:
    doors = {WORKSPACE: ledger, OTHER_WORKSPACE: other}
    for workspace, r, k in FIRST.values():
        answer(doors[workspace], record(1, r, k))
    before = everything(doors.values())
    assert [attempt.outcome for attempt in before] == list(FIRST)

    workspace, r, k = FIRST[outcome]
    told = [answer(doors[workspace], record(1, r, k)) for _ in range(times)]

    assert told == [AGAIN[outcome]] * times
    assert everything(doors.values()) == before
    ledger.resolve(record(2, 1, 1))
    (next_event,) = ledger.history(instance(2))
    assert next_event.sequence == len(before) + 1


def test_the_label_does_not_make_a_submission_another_one(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1, "tty"))
    assert answer(ledger, record(1, 1, 1, "web")) == ("replayed", response(1), True)
    (won,) = ledger.history(instance(1))
    assert won.submitted_by == "tty"


def test_a_conflict_is_remembered_for_each_response_of_its_own(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    for _ in range(2):
        for r in (2, 3):
            assert answer(ledger, record(1, r, 1)) == ("conflict", key(1), response(1), response(r))
    conflicts = [a.response for a in ledger.history(instance(1)) if a.outcome == "conflicted"]
    assert conflicts == [response(2), response(3)]
