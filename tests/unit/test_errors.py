"""Errors: facts in attributes, advice in the docstring, whole after a pickle."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import resolution_ledger
from resolution_ledger.domain import errors
from resolution_ledger.domain.errors import (
    CannotAdopt,
    CorruptLedger,
    IdempotencyConflict,
    InvalidCheckpoint,
    InvalidExport,
    InvalidId,
    InvalidOption,
    InvalidRecord,
    InvalidText,
    InvalidTick,
    LedgerClosed,
    LedgerNotEmpty,
    NonCanonicalId,
    NotAdopted,
    NotALedger,
    NothingToAdopt,
    OutsideWorkspace,
    ResolutionError,
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from samples import instance, key, response

STORE = {"target": "a.db", "reason": "why", "outcome_unknown": False}

SAMPLES: list[tuple[ResolutionError, dict[str, object]]] = [
    (ResolutionError("what"), {}),
    (InvalidId("x", "why"), {"text": "x", "reason": "why"}),
    (
        NonCanonicalId("X", "x"),
        {"text": "X", "reason": "another spelling of x", "canonical": "x"},
    ),
    (InvalidText("key", 1, "why"), {"what": "key", "value": 1, "reason": "why"}),
    (InvalidRecord("why"), {"reason": "why"}),
    (InvalidTick(1.5), {"tick": 1.5}),
    (InvalidOption("limit", 0, "why"), {"option": "limit", "value": 0, "reason": "why"}),
    (
        IdempotencyConflict(key(0), response(0), response(1)),
        {"key": key(0), "existing": response(0), "presented": response(1)},
    ),
    (
        OutsideWorkspace(instance(0), "ws-2"),
        {"instance": instance(0), "workspace": "ws-2"},
    ),
    (StoreError("a.db", "why"), STORE),
    (StoreBusy("a.db", "why"), STORE),
    (StoreUnavailable("a.db", "why", outcome_unknown=True), STORE | {"outcome_unknown": True}),
    (NotALedger("a.db", "why"), STORE),
    (
        NotAdopted("a.db"),
        STORE | {"reason": "it has winners but no log; take them over with adopt first"},
    ),
    (
        NothingToAdopt("a.db"),
        STORE | {"reason": "it has no one-row table of winners to take over"},
    ),
    (
        CannotAdopt("a.db", (("x", "no id"),)),
        STORE | {"reason": "winners that cannot be adopted: x: no id", "rows": (("x", "no id"),)},
    ),
    (
        LedgerNotEmpty("a.db", 7),
        STORE | {"reason": "it has 7 events already", "length": 7},
    ),
    (InvalidCheckpoint("why"), {"reason": "why"}),
    (InvalidExport(3, "why"), {"line": 3, "reason": "why"}),
    (
        CorruptLedger("a.db", "why", sequence=7),
        STORE | {"reason": "event 7: why", "sequence": 7},
    ),
    (
        UnknownEvent("a.db", sequence=7, tag="won", version=2),
        STORE
        | {"reason": "event 7: unknown event: tag 'won', version 2", "sequence": 7}
        | {"tag": "won", "version": 2},
    ),
    (
        SchemaTooNew("a.db", found=3, known=2),
        STORE | {"reason": "schema version 3 is newer than 2", "found": 3, "known": 2},
    ),
    (LedgerClosed("a.db", "why"), STORE),
]

COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301 (our own pickle)
}

LONG = "x" * 100_000
WITH_LONG_VALUES: dict[str, Callable[[], ResolutionError]] = {
    "an id": lambda: InvalidId(LONG, "why"),
    "another spelling": lambda: NonCanonicalId(LONG, "x"),
    "text": lambda: InvalidText("key", LONG, "why"),
    "a tick": lambda: InvalidTick([LONG]),
    "a number as a tick": lambda: InvalidTick(10**4000),
    "a number too long to print": lambda: InvalidTick(10**5000),
    "an option": lambda: InvalidOption("limit", LONG, "why"),
    "the tag of an unknown event": lambda: UnknownEvent("a", sequence=1, tag=LONG, version=1),
    "the version of an unknown event": lambda: UnknownEvent("a", sequence=1, tag="a", version=LONG),
}

every_error = pytest.mark.parametrize(
    "error", [pytest.param(error, id=type(error).__name__) for error, _ in SAMPLES]
)


def error_classes() -> set[type[ResolutionError]]:
    """Every error that the module defines."""
    classes = (value for _, value in inspect.getmembers(errors, inspect.isclass))
    return {kind for kind in classes if kind.__module__ == errors.__name__}


def test_there_is_a_sample_of_every_error() -> None:
    """Or the tests below would leave one out."""
    assert {type(error) for error, _ in SAMPLES} == error_classes()


@every_error
def test_every_error_has_the_one_base_class_and_is_exported(error: ResolutionError) -> None:
    """A caller needs one name to catch them all, and can catch each by name."""
    kind = type(error)
    assert isinstance(error, ResolutionError)
    assert getattr(resolution_ledger, kind.__name__) is kind
    assert kind.__name__ in resolution_ledger.__all__


@every_error
def test_every_error_has_a_docstring_of_its_own(error: ResolutionError) -> None:
    """It says what the caller should do."""
    advice = vars(type(error)).get("__doc__")
    assert advice
    assert len(advice.split()) > 5


@pytest.mark.parametrize(
    ("error", "facts"), SAMPLES, ids=[type(error).__name__ for error, _ in SAMPLES]
)
def test_the_facts_are_attributes(error: ResolutionError, facts: dict[str, object]) -> None:
    """These and no others."""
    assert vars(error) == facts


@every_error
def test_the_message_is_one_line_for_people(error: ResolutionError) -> None:
    """Never empty, never a tuple of arguments."""
    assert str(error).strip()
    assert "\n" not in str(error)
    assert not str(error).startswith("(")


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@every_error
def test_a_copy_is_as_good_as_the_error(
    error: ResolutionError, duplicate: Callable[[Any], Any]
) -> None:
    """Errors cross process boundaries."""
    error.add_note("seen in a worker")
    try:
        twin = duplicate(error)
    finally:
        del error.__notes__
    assert twin.__notes__ == ["seen in a worker"]
    del twin.__notes__
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert twin.args == error.args
    assert vars(twin) == vars(error)


@pytest.mark.parametrize(
    "kind", [InvalidId, NonCanonicalId, InvalidText, InvalidRecord, InvalidTick, InvalidOption]
)
def test_an_invalid_value_is_a_value_error(kind: type[ResolutionError]) -> None:
    """For callers that check their input as Python does."""
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize(
    "kind",
    [
        StoreBusy,
        StoreUnavailable,
        NotALedger,
        CorruptLedger,
        UnknownEvent,
        SchemaTooNew,
        LedgerClosed,
    ],
)
def test_a_failure_of_the_store_is_a_store_error(kind: type[ResolutionError]) -> None:
    """And no misuse."""
    assert issubclass(kind, StoreError)
    assert not issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", [IdempotencyConflict, OutsideWorkspace])
def test_a_refusal_is_no_failure_of_the_store(kind: type[ResolutionError]) -> None:
    """Whoever retries failures must not retry these."""
    assert not issubclass(kind, StoreError)


def test_an_unknown_event_is_damage_unless_an_upgrade_helps() -> None:
    """Whoever catches damage catches it, too."""
    assert issubclass(UnknownEvent, CorruptLedger)
    assert issubclass(NonCanonicalId, InvalidId)


def test_outside_workspace_tells_only_what_the_caller_knew() -> None:
    """Its message is made of the instance and the workspace that asked."""
    message = str(OutsideWorkspace(instance(0), "ws-2"))
    assert message == f"instance {instance(0)} is not of workspace 'ws-2'"


@pytest.mark.parametrize("unknown", [True, False])
def test_the_message_says_when_the_fate_of_the_commit_is_unknown(*, unknown: bool) -> None:
    """And what to do then."""
    message = str(StoreUnavailable("a.db", "why", outcome_unknown=unknown))
    assert message.startswith("a.db: why")
    assert ("make the same call again" in message) is unknown


@pytest.mark.parametrize("make", WITH_LONG_VALUES.values(), ids=WITH_LONG_VALUES)
def test_a_long_value_is_shortened_in_the_message(make: Callable[[], ResolutionError]) -> None:
    """A log line stays a line."""
    assert len(str(make())) < 300
