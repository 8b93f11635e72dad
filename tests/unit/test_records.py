"""Submissions: nothing gets in that is not of its own type."""

from __future__ import annotations

from typing import Any

import pytest

from resolution_ledger import (
    ContentId,
    IdempotencyKey,
    InstanceId,
    InvalidId,
    InvalidText,
    ResolutionRecord,
    ResponseId,
)
from samples import instance, key, record, response

FIELDS: dict[str, Any] = {
    "instance": instance(0),
    "response": response(0),
    "idempotency_key": key(0),
    "submitted_by": "tty",
}

NO_INSTANCES = {
    "a response": response(0),
    "a content id": ContentId(instance(0).text),
    "text": instance(0).text,
    "None": None,
}
NO_RESPONSES = NO_INSTANCES | {"a response": instance(0)}
NO_KEYS = {"text": "key-0", "an id": instance(0), "bytes": b"key-0", "None": None}
NO_LABELS = {
    "None": None,
    "bytes": b"tty",
    "a key": key(0),
    "NUL": "a\0",
    "a lone surrogate": "\ud800",
    "513 bytes": "x" * 513,
}


def submitted(**fields: Any) -> ResolutionRecord:
    """A record that is right except for ``fields``."""
    return ResolutionRecord(**(FIELDS | fields))


@pytest.mark.parametrize("value", NO_INSTANCES.values(), ids=NO_INSTANCES)
def test_an_instance_must_be_an_instance_id(value: Any) -> None:
    """Ids that were swapped are found before anything is recorded."""
    with pytest.raises(InvalidId, match="not an InstanceId") as refusal:
        submitted(instance=value)
    assert refusal.value.text is value


@pytest.mark.parametrize("value", NO_RESPONSES.values(), ids=NO_RESPONSES)
def test_a_response_must_be_a_response_id(value: Any) -> None:
    """Ids that were swapped are found before anything is recorded."""
    with pytest.raises(InvalidId, match="not a ResponseId") as refusal:
        submitted(response=value)
    assert refusal.value.text is value


@pytest.mark.parametrize("value", NO_KEYS.values(), ids=NO_KEYS)
def test_a_key_must_be_an_idempotency_key(value: Any) -> None:
    """Its text alone has not been checked."""
    with pytest.raises(InvalidText) as refusal:
        submitted(idempotency_key=value)
    assert refusal.value.what == "idempotency key"
    assert refusal.value.value is value


class _MyInstance(InstanceId, frozen=True):
    """Never equal to an ``InstanceId``: it would not be known again."""


class _MyResponse(ResponseId, frozen=True):
    """Likewise."""


class _MyKey(IdempotencyKey, frozen=True):
    """Likewise."""


def test_what_would_never_be_equal_to_what_is_read_back_is_refused() -> None:
    i, r, k = instance(1), response(1), key(1)
    with pytest.raises(InvalidId, match="InstanceId"):
        ResolutionRecord(_MyInstance(i.text), r, k)
    with pytest.raises(InvalidId, match="ResponseId"):
        ResolutionRecord(i, _MyResponse(r.text), k)
    with pytest.raises(InvalidText, match="IdempotencyKey"):
        ResolutionRecord(i, r, _MyKey(k.text))


@pytest.mark.parametrize("value", NO_LABELS.values(), ids=NO_LABELS)
def test_a_label_must_be_text_that_can_be_stored(value: Any) -> None:
    """It ends up in the log."""
    with pytest.raises(InvalidText) as refusal:
        submitted(submitted_by=value)
    assert refusal.value.what == "submitted_by"
    assert refusal.value.value is value


@pytest.mark.parametrize("label", ["", "x" * 512, "web:7f3a", "\u00e9"])
def test_a_label_may_be_empty_and_have_512_bytes(label: str) -> None:
    """It is a claim, not a name."""
    assert submitted(submitted_by=label).submitted_by == label


def test_a_label_of_a_subclass_of_text_is_stored_as_plain_text() -> None:
    """It is shown as it was recorded."""
    label = type("Label", (str,), {})("tty")
    assert type(submitted(submitted_by=label).submitted_by) is str


def test_a_label_is_not_needed() -> None:
    """Nor is anything else optional."""
    assert record(0, 0, 0) == ResolutionRecord(instance(0), response(0), key(0))
    assert record(0, 0, 0).submitted_by == ""


@pytest.mark.parametrize("name", FIELDS)
def test_a_record_cannot_be_changed(name: str) -> None:
    """It was checked when it was made."""
    with pytest.raises(AttributeError):
        setattr(submitted(), name, FIELDS[name])


def test_records_of_equal_fields_are_equal() -> None:
    """And find each other in a set."""
    assert submitted() == submitted()
    assert len({submitted(), submitted()}) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"instance": instance(1)},
        {"response": response(1)},
        {"idempotency_key": IdempotencyKey("other")},
        {"submitted_by": "web"},
    ],
    ids=FIELDS,
)
def test_records_that_differ_in_a_field_are_not_equal(other: dict[str, Any]) -> None:
    """Each field counts."""
    assert submitted(**other) != submitted()
