"""Ids: minted as published, equal only within their own kind, plain values otherwise."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolution_ledger import ContentId, InstanceId, ResponseId
from resolution_ledger.domain.dagcbor import encode

TEXT = "bafyr4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy"
KINDS = [InstanceId, ResponseId, ContentId]
Kind = type[InstanceId | ResponseId | ContentId]

VECTORS = Path(__file__).resolve().parents[2].parent / "shared" / "vectors" / "content-ids.json"
ABSENT = pytest.mark.skip(reason=f"the published ids are not there: {VECTORS}")

COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301 (our own pickle)
}


def published() -> list[Any]:
    """The known answers, each a parameter of its own."""
    if not VECTORS.exists():
        return [pytest.param(None, marks=ABSENT)]
    return [pytest.param(vector, id=vector["name"]) for vector in json.loads(VECTORS.read_text())]


def record_of(vector: dict[str, Any]) -> dict[str, Any]:
    """The record of a known answer, with its links as ids."""
    links = {name: ContentId(vector["record"][name]) for name in vector["links"]}
    return vector["record"] | links


def test_there_are_ten_published_ids() -> None:
    """So that a file that shrank does not pass for one that holds."""
    if not VECTORS.exists():
        pytest.skip(str(ABSENT.kwargs["reason"]))
    assert len(published()) == 10


@pytest.mark.parametrize("vector", published())
def test_a_published_record_has_its_published_bytes(vector: dict[str, Any]) -> None:
    """Byte for byte."""
    assert encode(record_of(vector), link_type=ContentId).hex() == vector["dagcbor_hex"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vector", published())
def test_a_published_record_has_its_published_id(vector: dict[str, Any], kind: Kind) -> None:
    """Whatever the id is to name."""
    assert kind.mint(record_of(vector)) == kind.parse(vector["content_id"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_record_has_its_id_for_good(kind: Kind) -> None:
    """A known answer that needs no file."""
    assert str(kind.mint({"a": 1})) == TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_with_every_kind_of_value_has_its_id_for_good(kind: Kind) -> None:
    """A known answer that needs no file, with a link and nested values."""
    record = {"bb": [1, -1, 1.5, None, True, "\u00e9", b"\0"], "a": kind(TEXT), "": {}}
    assert str(kind.mint(record)) == "bafyr4if3iydjfon22mbgxfhw4juq5tbgjek2jrl7yqt2ol5w5mgqupilne"


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_to_an_id_of_any_kind_is_the_same_link(kind: Kind) -> None:
    """The kinds are ours, the link is the record's."""
    assert ContentId.mint([kind(TEXT)]) == ContentId.mint([ContentId(TEXT)])


def test_a_link_is_not_the_text_of_its_id() -> None:
    """Or a record that spells an id would be a record that links to it."""
    assert ContentId.mint([ContentId(TEXT)]) != ContentId.mint([TEXT])


@pytest.mark.parametrize("kind", KINDS)
def test_parse_accepts_the_canonical_spelling_and_str_gives_it_back(kind: Kind) -> None:
    """An id and its text are interchangeable."""
    parsed = kind.parse(TEXT)
    assert type(parsed) is kind
    assert str(parsed) == parsed.text == TEXT
    assert parsed == kind(TEXT)


def test_the_bytes_of_an_id_are_the_binary_cid() -> None:
    """Version 1, dag-cbor, BLAKE3, 32 bytes, and the digest."""
    digest = "74a1c68dabb660207c842b9b7dd0953a6a8e8158bb397c5bd4ea9fceda0c4c96"
    assert bytes(ContentId(TEXT)).hex() == "01711e20" + digest


@pytest.mark.parametrize("other", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_one_text_are_equal_only_within_their_kind(kind: Kind, other: Kind) -> None:
    """An instance is never taken for a response."""
    assert (kind(TEXT) == other(TEXT)) is (kind is other)
    assert (kind(TEXT) != other(TEXT)) is (kind is not other)


@pytest.mark.parametrize("kind", KINDS)
def test_an_id_is_not_equal_to_its_text(kind: Kind) -> None:
    """A text has not been checked."""
    assert kind(TEXT) != TEXT


def test_ids_of_one_text_are_three_keys_of_one_dict() -> None:
    """And each finds its own value again."""
    names = {kind(TEXT): kind.__name__ for kind in KINDS}
    assert [names[kind(TEXT)] for kind in KINDS] == [kind.__name__ for kind in KINDS]
    assert len(names) == 3


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_the_same_id(kind: Kind, duplicate: Callable[[Any], Any]) -> None:
    """Through pickles as well: ids cross process boundaries."""
    twin = duplicate(kind(TEXT))
    assert type(twin) is kind
    assert twin == kind(TEXT)
    assert hash(twin) == hash(kind(TEXT))


@pytest.mark.parametrize("kind", KINDS)
def test_an_id_cannot_be_changed(kind: Kind) -> None:
    """Nor can anything be hung on it."""
    name = kind(TEXT)
    with pytest.raises(AttributeError):
        name.text = TEXT  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del name.text
    with pytest.raises(AttributeError):
        name.note = "x"  # type: ignore[union-attr]
    assert name.text == TEXT


class _Shouting(str):
    """Text that prints and compares as it likes."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


@pytest.mark.parametrize("kind", KINDS)
def test_a_subclass_of_text_is_stored_as_plain_text(kind: Kind) -> None:
    """What is stored must compare as its characters do."""
    name = kind(_Shouting(TEXT))
    assert type(name.text) is str
    assert name == kind(TEXT)
    assert str(name) == TEXT
