"""Closing a question: a withdrawal and the answers compete for the same first place."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from contract.answers import Answer, Ending, answer, everything, outcomes
from contract.backends import OpenLedger
from resolution_ledger import (
    Closed,
    ContentId,
    InvalidId,
    InvalidOption,
    InvalidText,
    Lost,
    OutsideWorkspace,
    RecordedAttempt,
    Replayed,
    ResolutionLedger,
    Withdrawn,
    Won,
)
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response

TICK = 1_700_000_000_000_000_000

each_reason = pytest.mark.parametrize("reason", ["expired", "withdrawn"])


# A withdrawal that comes first


@each_reason
def test_a_withdrawal_that_comes_first_closes_the_instance(
    ledger: ResolutionLedger, reason: Any
) -> None:
    assert ledger.withdraw(instance(1), reason) == Withdrawn()
    assert outcomes(ledger.history(instance(1))) == ["closed"]
    assert ledger.winner(instance(1)) is None
    assert ledger.losers() == ()


@each_reason
def test_an_answer_to_a_closed_instance_comes_too_late(
    ledger: ResolutionLedger, reason: Any
) -> None:
    ledger.withdraw(instance(1), reason)
    assert ledger.resolve(record(1, 1, 1)) == Closed(reason)
    assert outcomes(ledger.history(instance(1))) == ["closed", "late"]
    assert ledger.winner(instance(1)) is None


def test_on_a_closed_instance_no_key_comes_into_conflict(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired")
    for r in (1, 2, 3):
        assert ledger.resolve(record(1, r, 7)) == Closed("expired")
    assert outcomes(ledger.history(instance(1))) == ["closed", "late", "late", "late"]


def test_a_withdrawal_for_another_reason_is_told_the_first(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired")
    assert ledger.withdraw(instance(1), "withdrawn") == Closed("expired")
    assert outcomes(ledger.history(instance(1))) == ["closed", "withdrawal-late"]
    assert ledger.resolve(record(1, 1, 1)) == Closed("expired")


@pytest.mark.parametrize(
    ("send", "outcome"),
    [
        (lambda ledger: ledger.resolve(record(1, 1, 1)), "fenced"),
        (lambda ledger: ledger.withdraw(instance(1), "expired"), "withdrawal-fenced"),
        (lambda ledger: ledger.withdraw(instance(1), "withdrawn"), "withdrawal-fenced"),
    ],
    ids=["an answer", "the same reason", "another reason"],
)
def test_another_workspace_is_told_nothing_of_a_closing(
    ledger: ResolutionLedger,
    other: ResolutionLedger,
    send: Callable[[ResolutionLedger], object],
    outcome: str,
) -> None:
    ledger.withdraw(instance(1), "expired", "scheduler")
    with pytest.raises(OutsideWorkspace) as refusal:
        send(other)
    assert vars(refusal.value) == {"instance": instance(1), "workspace": OTHER_WORKSPACE}
    for told_only_there in (WORKSPACE, "expired", "scheduler"):
        assert told_only_there not in str(refusal.value)
    assert outcomes(other.history(instance(1))) == [outcome]
    assert other.winner(instance(1)) is None


# A withdrawal that comes after an answer


@each_reason
def test_a_withdrawal_after_an_answer_has_lost_and_the_answer_counts(
    ledger: ResolutionLedger, reason: Any
) -> None:
    ledger.resolve(record(1, 1, 1))
    assert ledger.withdraw(instance(1), reason) == Lost(response(1))
    assert outcomes(ledger.history(instance(1))) == ["won", "withdrawal-lost"]
    assert ledger.winner(instance(1)) == response(1)
    assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)


@each_reason
def test_another_workspace_than_the_winners_can_close_nothing(
    ledger: ResolutionLedger, other: ResolutionLedger, reason: Any
) -> None:
    ledger.resolve(record(1, 1, 1, "tty"))
    with pytest.raises(OutsideWorkspace) as refusal:
        other.withdraw(instance(1), reason)
    assert vars(refusal.value) == {"instance": instance(1), "workspace": OTHER_WORKSPACE}
    assert WORKSPACE not in str(refusal.value)
    assert response(1).text not in str(refusal.value)
    assert outcomes(other.history(instance(1))) == ["withdrawal-fenced"]
    assert ledger.winner(instance(1)) == response(1)


def test_a_withdrawal_that_came_to_nothing_changes_nothing_for_later_answers(
    ledger: ResolutionLedger,
) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    ledger.withdraw(instance(1), "expired")
    assert ledger.resolve(record(1, 1, 3)) == Replayed(response(1), own=False)
    assert answer(ledger, record(1, 3, 2)) == ("conflict", key(2), response(2), response(3))
    assert ledger.resolve(record(1, 3, 4)) == Lost(response(1))


def test_to_close_one_instance_closes_no_other(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired")
    assert ledger.resolve(record(2, 1, 1)) == Won()
    assert ledger.withdraw(instance(3), "expired") == Withdrawn()


# The same withdrawal, sent again

AGAIN: dict[str, tuple[str, int, str, Answer]] = {
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


@pytest.mark.parametrize("outcome", AGAIN)
@pytest.mark.parametrize("label", ["", "another"])
def test_a_withdrawal_sent_again_is_answered_alike_and_leaves_no_trace(
    ledger: ResolutionLedger, other: ResolutionLedger, outcome: str, label: str
) -> None:
    doors = {WORKSPACE: ledger, OTHER_WORKSPACE: other}
    ledger.resolve(record(2, 1, 1))
    for workspace, n, reason, _ in AGAIN.values():
        answer(doors[workspace], Ending(instance(n), reason))
    answer(ledger, record(1, 1, 1))
    before = everything(doors.values())
    assert outcomes(before) == ["won", *AGAIN, "late"]

    workspace, n, reason, told = AGAIN[outcome]
    for _ in range(3):
        assert answer(doors[workspace], Ending(instance(n), reason, label)) == told

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
        Ending(instance(1), "expired"),
        Ending(instance(1), "withdrawn"),
        Ending(instance(1), "expired"),
        record(1, 1, 1),
    ):
        assert answer(other, sent) == ("outside", instance(1), OTHER_WORKSPACE)
    assert outcomes(other.history(instance(1))) == [
        "fenced", "withdrawal-fenced", "withdrawal-fenced",
    ]  # fmt: skip


# What is told of it


def test_a_withdrawal_is_recorded_with_everything_that_was_claimed(
    open_ledger: OpenLedger,
) -> None:
    ledger = open_ledger(clock=lambda: TICK)
    ledger.withdraw(instance(1), "expired", "scheduler")
    ledger.resolve(record(1, 1, 1, "tty"))
    ledger.withdraw(instance(1), "withdrawn", submitted_by="\u00e9")
    assert ledger.history(instance(1)) == (
        RecordedAttempt(
            instance(1), 1, 1, "closed", None, None, "scheduler", WORKSPACE, TICK, "expired"
        ),
        RecordedAttempt(instance(1), 2, 2, "late", response(1), key(1), "tty", WORKSPACE, TICK),
        RecordedAttempt(
            instance(1), 3, 3, "withdrawal-late", None, None, "\u00e9", WORKSPACE, TICK, "withdrawn"
        ),
    )


def test_each_workspace_sees_its_own_withdrawals_alone(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.withdraw(instance(1), "expired")
    answer(other, Ending(instance(1), "withdrawn"))
    answer(other, record(1, 1, 1))
    ledger.withdraw(instance(1), "withdrawn")
    mine, theirs = ledger.history(instance(1)), other.history(instance(1))
    assert outcomes(mine) == ["closed", "withdrawal-late"]
    assert [attempt.position for attempt in mine] == [1, 4]
    assert {attempt.workspace for attempt in mine} == {WORKSPACE}
    assert outcomes(theirs) == ["withdrawal-fenced", "fenced"]
    assert [attempt.position for attempt in theirs] == [2, 3]
    assert {attempt.workspace for attempt in theirs} == {OTHER_WORKSPACE}


def test_a_closed_instance_has_no_winner_for_anybody(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.withdraw(instance(1), "withdrawn")
    for door in (ledger, other):
        answer(door, record(1, 1, 1))
        assert door.winner(instance(1)) is None


def test_late_answers_are_losers_and_withdrawals_are_not(
    ledger: ResolutionLedger, other: ResolutionLedger
) -> None:
    ledger.withdraw(instance(1), "expired")
    ledger.resolve(record(2, 1, 1))
    for sent in (
        record(1, 1, 1),
        Ending(instance(1), "withdrawn"),
        Ending(instance(2), "expired"),
        record(1, 2, 2),
    ):
        answer(ledger, sent)
        answer(other, sent)
    assert outcomes(ledger.losers()) == ["late", "late"]
    assert ledger.losers() == (
        ledger.history(instance(1))[3],
        ledger.history(instance(1))[1],
    )
    assert outcomes(other.losers()) == ["fenced", "fenced"]


def test_the_first_call_of_a_ledger_may_be_a_withdrawal(open_ledger: OpenLedger) -> None:
    assert open_ledger().withdraw(instance(1), "expired") == Withdrawn()
    assert open_ledger().resolve(record(1, 1, 1)) == Closed("expired")


# What is refused


class Reasons(StrEnum):
    """As a host may name them. The reasons themselves are text, and nothing more."""

    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


class Text(str):
    """Text that says that it is equal to any other."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Agreeable:
    """Nothing that is text, and equal to everything."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Touchy:
    """Nothing that can be compared."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError


NO_REASONS: dict[str, Any] = {
    "None": None,
    "nothing": "",
    "another word": "superseded",
    "an outcome": "closed",
    "upper case": "EXPIRED",
    "white space": "expired ",
    "NUL": "expired\0",
    "a surrogate": "\ud800",
    "bytes": b"expired",
    "a number": 1,
    "5,000 digits": 10**5000,
    "True": True,
    "a list": ["expired"],
    "a set": {"expired"},
    "a map": {"expired": "withdrawn"},
    "both": ("expired", "withdrawn"),
    "an id": instance(1),
    "another member": Reasons.SUPERSEDED,
    "the type": Reasons,
    "text that is equal to any": Text("superseded"),
    "equal to everything": Agreeable(),
    "not to be compared": Touchy(),
}


@pytest.mark.parametrize("reason", NO_REASONS.values(), ids=NO_REASONS)
@pytest.mark.parametrize("first", ["nothing", "a win", "a closing"])
def test_there_is_no_other_reason_than_these_two(
    ledger: ResolutionLedger, reason: Any, first: str
) -> None:
    ledger.resolve(record(2, 1, 1))
    if first != "nothing":
        answer(ledger, record(1, 1, 1) if first == "a win" else Ending(instance(1), "expired"))
    before = everything([ledger])
    with pytest.raises(InvalidOption) as refusal:
        ledger.withdraw(instance(1), reason)
    assert refusal.value.option == "reason"
    assert refusal.value.value is reason
    assert everything([ledger]) == before


@pytest.mark.parametrize("reason", [*Reasons][:2])
def test_a_reason_of_a_subclass_of_text_is_stored_as_plain_text(
    ledger: ResolutionLedger, reason: Any
) -> None:
    assert ledger.withdraw(instance(1), reason) == Withdrawn()
    assert ledger.withdraw(instance(1), str(reason)) == Closed(str(reason))
    (closed,) = ledger.history(instance(1))
    assert closed.reason == reason.value
    assert type(closed.reason) is str


def test_a_reason_is_what_its_text_says_and_not_what_it_claims_to_equal(
    ledger: ResolutionLedger,
) -> None:
    claiming: Any = Text("withdrawn")
    assert ledger.withdraw(instance(1), claiming) == Withdrawn()
    assert ledger.withdraw(instance(1), "expired") == Closed("withdrawn")
    assert [type(attempt.reason) for attempt in ledger.history(instance(1))] == [str, str]


BAD_CALLS: dict[str, tuple[Callable[[Any], object], type[Exception]]] = {
    **{
        f"instance is {name}": (
            lambda ledger, value=value: ledger.withdraw(value, "expired"),
            InvalidId,
        )
        for name, value in {
            "None": None,
            "text": instance(1).text,
            "bytes": instance(1).text.encode(),
            "a response": response(1),
            "another kind of id": ContentId.parse(instance(1).text),
            "a record": record(1, 1, 1),
            "a list": [instance(1)],
        }.items()
    },
    **{
        f"label is {name}": (
            lambda ledger, value=value: ledger.withdraw(instance(1), "expired", value),
            InvalidText,
        )
        for name, value in {
            "too long": "x" * 513,
            "too long in bytes": "\u00e9" * 257,
            "NUL": "\0",
            "a surrogate": "\udc80",
            "None": None,
            "bytes": b"tty",
            "a key": key(1),
        }.items()
    },
}


@pytest.mark.parametrize(("call", "error"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_input_is_refused_by_name_and_changes_nothing(
    ledger: ResolutionLedger, call: Callable[[Any], object], error: type[Exception]
) -> None:
    ledger.resolve(record(2, 1, 1))
    before = everything([ledger])
    with pytest.raises(error):
        call(ledger)
    assert everything([ledger]) == before
    assert ledger.withdraw(instance(1), "expired") == Withdrawn()


@pytest.mark.parametrize("label", ["", "x" * 512, "\u00e9" * 256])
def test_a_label_may_be_empty_and_have_512_bytes(ledger: ResolutionLedger, label: str) -> None:
    ledger.withdraw(instance(1), "expired", label)
    (closed,) = ledger.history(instance(1))
    assert closed.submitted_by == label


def test_a_label_of_a_subclass_of_text_is_stored_as_plain_text(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired", Reasons.EXPIRED)
    (closed,) = ledger.history(instance(1))
    assert type(closed.submitted_by) is str


def test_the_label_does_not_make_a_withdrawal_another_one(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired", "scheduler")
    assert ledger.withdraw(instance(1), "expired", "tty") == Closed("expired")
    (closed,) = ledger.history(instance(1))
    assert closed.submitted_by == "scheduler"
