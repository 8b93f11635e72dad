"""Misuse of ``withdraw`` is refused by name, and what is no misuse is plain text on record."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from answers import answer, everything
from resolution_ledger import (
    Closed,
    ContentId,
    InvalidId,
    InvalidOption,
    InvalidText,
    ResolutionLedger,
    Withdrawn,
)
from samples import instance, key, record, response
from submissions import Closing


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
        answer(ledger, record(1, 1, 1) if first == "a win" else Closing(instance(1), "expired"))
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
