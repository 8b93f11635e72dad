"""Canonical DAG-CBOR: the one byte string of a record, from which its id is minted.

The rules (https://ipld.io/specs/codecs/dag-cbor/spec/): string keys only, sorted by length
and then bytes; the smallest integer encoding, within 64 bits; floats always 64 bits wide and
finite; a link is tag 42 over a zero byte and the binary CID; no other tags.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, SupportsBytes

from .errors import InvalidRecord

_LINK_TAG = 42
_LEAST, _GREATEST = -(2**64), 2**64 - 1  # what a CBOR head can carry without a bignum tag
_MAX_DEPTH = 256  # far beyond real records, well within the stack of every encoder


def encode(record: object, *, link_type: type[SupportsBytes]) -> bytes:
    """The canonical bytes of ``record``; values of ``link_type`` become links.

    :raises InvalidRecord: if it holds anything that DAG-CBOR cannot carry.
    """
    # cbor2's own canonical mode shortens floats, which DAG-CBOR forbids. Its plain mode
    # keeps 64 bits and insertion order, so the maps are put in order here.
    import cbor2

    try:
        return cbor2.dumps(_ordered(record, link_type, 0))
    except RecursionError:  # a caller may be deep in the stack already
        raise InvalidRecord("nested too deeply for what is left of the stack") from None


def _ordered(  # noqa: C901, PLR0911 - one case for each kind of value
    value: Any, link_type: type[SupportsBytes], depth: int
) -> object:
    """``value`` with every map in canonical order and every id as a tagged link."""
    if depth > _MAX_DEPTH:
        raise InvalidRecord(f"nested deeper than {_MAX_DEPTH} levels, or within itself")
    # Each branch gives the plain type, so that a subclass counts as what it holds.
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, link_type):
        from cbor2 import CBORTag

        return CBORTag(_LINK_TAG, b"\0" + bytes(value))
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise InvalidRecord("a float is not finite")
        return float.__float__(value)
    if isinstance(value, str):
        return _utf8(value).decode()
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, list | tuple):
        return [_ordered(item, link_type, depth + 1) for item in value]
    if isinstance(value, dict):
        return _ordered_map(value, link_type, depth)
    raise InvalidRecord(f"a {type(value).__name__} has no form in DAG-CBOR")


def _integer(value: int) -> int:
    plain = int.__index__(value)
    if not _LEAST <= plain <= _GREATEST:
        raise InvalidRecord("an integer does not fit into 64 bits")
    return plain


def _ordered_map(value: dict[Any, Any], link_type: type[SupportsBytes], depth: int) -> object:
    if any(not isinstance(key, str) for key in value):
        raise InvalidRecord("a map has a key that is not a string")
    if "/" in value:
        # DAG-JSON reserves this key for links and bytes. A record read with a plain JSON
        # parser would otherwise be minted, silently, as another record than the one meant.
        raise InvalidRecord('the key "/" is reserved: use an id for a link')
    pairs = sorted(((_utf8(key), item) for key, item in value.items()), key=_by_length)
    return {key.decode(): _ordered(item, link_type, depth + 1) for key, item in pairs}


def _by_length(pair: tuple[bytes, object]) -> tuple[int, bytes]:
    return len(pair[0]), pair[0]


def _utf8(text: str) -> bytes:
    try:
        return str.encode(text)
    except UnicodeEncodeError:
        raise InvalidRecord("a string contains a lone surrogate") from None
