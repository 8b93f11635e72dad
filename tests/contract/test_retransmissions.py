"""The same submission, sent again: the same answer, and nothing more on record."""

from __future__ import annotations

import pytest

from answers import Answer, answer, everything, outcomes
from resolution_ledger import Closed, ResolutionLedger
from resolution_ledger.domain.records import Reason
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response
from submissions import Closing

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


# The same withdrawal, sent again

WITHDRAWN: dict[str, tuple[str, int, Reason, Answer]] = {
    "closed": (WORKSPACE, 1, "expired", ("closed", "expired")),
    "withdrawal-late": (WORKSPACE, 1, "withdrawn", ("closed", "expired")),
    "withdrawal-lost": (WORKSPACE, 2, "expired", ("lost", response(1))),
    "withdrawal-fenced": (
        OTHER_WORKSPACE,
        2,
        "expired",
        ("outside", instance(2), OTHER_WORKSPACE),
    ),
}
"""From where, on which instance, for which reason, and what it is told when it comes again."""


@pytest.mark.parametrize("outcome", WITHDRAWN)
@pytest.mark.parametrize("label", ["", "another"])
def test_a_withdrawal_sent_again_is_answered_alike_and_leaves_no_trace(
    ledger: ResolutionLedger, other: ResolutionLedger, outcome: str, label: str
) -> None:
    doors = {WORKSPACE: ledger, OTHER_WORKSPACE: other}
    ledger.resolve(record(2, 1, 1))
    for workspace, n, reason, _ in WITHDRAWN.values():
        answer(doors[workspace], Closing(instance(n), reason))
    answer(ledger, record(1, 1, 1))
    before = everything(doors.values())
    assert outcomes(before) == ["won", *WITHDRAWN, "late"]

    workspace, n, reason, told = WITHDRAWN[outcome]
    for _ in range(3):
        assert answer(doors[workspace], Closing(instance(n), reason, label)) == told

    assert everything(doors.values()) == before
    ledger.resolve(record(3, 1, 1))
    (next_event,) = ledger.history(instance(3))
    assert next_event.sequence == len(before) + 1


@pytest.mark.parametrize("label", ["", "another"])
def test_a_late_answer_sent_again_is_answered_alike_and_leaves_no_trace(
    ledger: ResolutionLedger, label: str
) -> None:
    ledger.withdraw(instance(1), "expired")
    for _ in range(3):
        assert ledger.resolve(record(1, 1, 1, label)) == Closed("expired")
    assert outcomes(ledger.history(instance(1))) == ["closed", "late"]


def test_a_workspace_may_be_fenced_with_an_answer_and_with_each_withdrawal(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.withdraw(instance(1), "expired")
    for sent in (
        record(1, 1, 1),
        Closing(instance(1), "expired"),
        Closing(instance(1), "withdrawn"),
        Closing(instance(1), "expired"),
        record(1, 1, 1),
    ):
        assert answer(other, sent) == ("outside", instance(1), OTHER_WORKSPACE)
    assert outcomes(other.history(instance(1))) == [
        "fenced", "withdrawal-fenced", "withdrawal-fenced",
    ]  # fmt: skip
