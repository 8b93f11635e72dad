"""Canonical DAG-CBOR, held against the library's own encoder and decoder."""

from __future__ import annotations

from typing import Any

import content_addressable
from hypothesis import given

import strategies
from resolution_ledger import ContentId
from resolution_ledger.domain.dagcbor import encode


def encoded(record: object) -> bytes:
    """The bytes, with content ids as links."""
    return encode(record, link_type=ContentId)


def reversed_maps(value: Any) -> Any:
    """The same record with the keys of every map inserted the other way round."""
    if isinstance(value, list):
        return [reversed_maps(item) for item in value]
    if isinstance(value, dict):
        return {key: reversed_maps(value[key]) for key in reversed(value)}
    return value


@given(strategies.plain_records)
def test_a_record_without_links_has_the_bytes_that_the_library_gives_it(record: Any) -> None:
    """So others who mint with the library find the same ids."""
    assert encoded(record) == content_addressable.to_canonical_dagcbor(record)


@given(strategies.plain_records)
def test_a_record_without_links_has_the_id_that_the_library_gives_it(record: Any) -> None:
    """Through the public door."""
    assert str(ContentId.mint(record)) == str(content_addressable.content_id(record))


@given(strategies.records)
def test_the_order_in_which_keys_were_inserted_does_not_matter(record: Any) -> None:
    """At any depth."""
    assert encoded(reversed_maps(record)) == encoded(record)


@given(strategies.records)
def test_a_record_with_links_has_bytes_that_the_library_finds_canonical(record: Any) -> None:
    """It has no encoder for links, but its decoder checks them."""
    assert restored(content_addressable.from_canonical_dagcbor_checked(encoded(record))) == record


def restored(value: Any) -> Any:
    """A record as the library decodes it, with its links as ids of ours."""
    if isinstance(value, content_addressable.ContentId):
        return ContentId(str(value))
    if isinstance(value, list):
        return [restored(item) for item in value]
    if isinstance(value, dict):
        return {key: restored(item) for key, item in value.items()}
    return value
