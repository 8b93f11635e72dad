"""Misuse of any kind is refused by name, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any, cast

import pytest

from answers import everything
from resolution_ledger import (
    AsyncResolutionLedger,
    ContentId,
    IdempotencyKey,
    InvalidId,
    InvalidOption,
    InvalidRecord,
    InvalidText,
    NonCanonicalId,
    ResolutionError,
    ResolutionLedger,
    ResolutionRecord,
    Won,
)
from samples import WORKSPACE, instance, key, record, response

Call = Callable[[Any], object]

TEXT = instance(1).text

BAD_CALLS: dict[str, tuple[Call, type[ResolutionError]]] = {
    "resolve None": (lambda ledger: ledger.resolve(None), InvalidRecord),
    "resolve text": (lambda ledger: ledger.resolve(TEXT), InvalidRecord),
    "resolve a tuple": (
        lambda ledger: ledger.resolve((instance(1), response(2), key(2))),
        InvalidRecord,
    ),
    "resolve the type": (lambda ledger: ledger.resolve(ResolutionRecord), InvalidRecord),
    "instance as text": (
        lambda ledger: ledger.resolve(
            ResolutionRecord(cast(Any, TEXT), response(2), key(2)),
        ),
        InvalidId,
    ),
    "response as instance": (
        lambda ledger: ledger.resolve(
            ResolutionRecord(cast(Any, response(1)), response(2), key(2)),
        ),
        InvalidId,
    ),
    "instance as response": (
        lambda ledger: ledger.resolve(
            ResolutionRecord(instance(1), cast(Any, instance(2)), key(2)),
        ),
        InvalidId,
    ),
    "key as text": (
        lambda ledger: ledger.resolve(
            ResolutionRecord(instance(1), response(2), cast(Any, "key-2")),
        ),
        InvalidText,
    ),
    "empty key": (
        lambda ledger: ledger.resolve(
            ResolutionRecord(instance(1), response(2), IdempotencyKey("")),
        ),
        InvalidText,
    ),
    "label too long": (lambda ledger: ledger.resolve(record(1, 2, 2, "x" * 513)), InvalidText),
    "label with NUL": (lambda ledger: ledger.resolve(record(1, 2, 2, "\0")), InvalidText),
    "label with surrogate": (
        lambda ledger: ledger.resolve(record(1, 2, 2, "\udc80")),
        InvalidText,
    ),
    "upper-case instance": (
        lambda ledger: ledger.winner(type(instance(1)).parse(TEXT.upper())),
        NonCanonicalId,
    ),
    **{
        f"{method} of {name}": (methodcaller(method, value), InvalidId)
        for method in ("winner", "history")
        for name, value in {
            "None": None,
            "text": TEXT,
            "bytes": TEXT.encode(),
            "a response": response(1),
            "another kind of id": ContentId.parse(TEXT),
            "a list": [instance(1)],
        }.items()
    },
    **{
        f"losers {limit!s:.20}": (methodcaller("losers", limit), InvalidOption)
        for limit in (0, -1, True, 1.0, "3", None, [1], 2**63)
    },
    "losers 5,000 digits": (methodcaller("losers", 10**5000), InvalidOption),
}


@pytest.mark.parametrize(("call", "error"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_input_is_refused_by_name_and_changes_nothing(
    ledger: ResolutionLedger, call: Call, error: type[ResolutionError]
) -> None:
    ledger.resolve(record(1, 1, 1))
    before = everything([ledger])
    with pytest.raises(error):
        call(ledger)
    assert everything([ledger]) == before
    assert ledger.resolve(record(2, 1, 1)) == Won()
    assert len(everything([ledger])) == len(before) + 1


Door = type[ResolutionLedger] | type[AsyncResolutionLedger]

each_door = pytest.mark.parametrize("door", [ResolutionLedger, AsyncResolutionLedger])


@each_door
@pytest.mark.parametrize(
    "workspace",
    [None, "", 5, b"ws", "x" * 513, "\u00e9" * 257, "a\0b", "\ud800"],
    ids=["None", "empty", "int", "bytes", "long", "long in bytes", "NUL", "surrogate"],
)
def test_a_workspace_is_1_to_512_bytes_of_text(door: Door, workspace: Any) -> None:
    with pytest.raises(InvalidText) as error:
        door.open(":memory:", workspace=workspace)
    assert error.value.what == "workspace"


@each_door
@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("durability", value) for value in ("", "FULL", "off", None, 2, ["full"])),
        *(("lock_timeout", value) for value in (-1, -0.001, True, "5", None, 1e7)),
        *(("lock_timeout", float(value)) for value in ("nan", "inf", "-inf")),
        pytest.param("lock_timeout", 10**400, id="lock_timeout-400 digits"),
        pytest.param("lock_timeout", 10**5000, id="lock_timeout-5,000 digits"),
        *(("clock", value) for value in (None, 0, "time")),
    ],
)
def test_an_impossible_option_is_named(door: Door, option: str, value: Any) -> None:
    with pytest.raises(InvalidOption) as error:
        door.open(":memory:", workspace=WORKSPACE, **{option: value})
    assert error.value.option == option
    assert error.value.value is value
