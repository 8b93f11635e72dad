"""DAG-JSON, as far as a record needs it: JSON text in, a record that can be minted out.

A link is written ``{"/": "bafyr4..."}`` and bytes ``{"/": {"bytes": "<base64>"}}``
(https://ipld.io/specs/codecs/dag-json/spec/).
"""

from __future__ import annotations

import binascii
import json
from typing import NoReturn

from .errors import InvalidId, InvalidRecord
from .ids import ContentId


def parse_record(text: str | bytes) -> object:
    """The record that the JSON ``text`` writes down.

    Stricter than :mod:`json`: a repeated key or a number that JSON does not have would make
    two readers see two records.

    :raises InvalidRecord: if the text is not DAG-JSON.
    """
    try:
        # Decoded here, since json would guess at UTF-16 and skip a byte order mark.
        decoded = text if isinstance(text, str) else text.decode()
        return json.loads(decoded, object_pairs_hook=_map_or_link, parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidRecord):
            raise
        raise InvalidRecord(f"not JSON: {error}") from error


def _map_or_link(pairs: list[tuple[str, object]]) -> object:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidRecord("a JSON object repeats a key")
    if "/" not in value:
        return value
    match value:
        case {"/": str(text), **rest} if not rest:
            return _link(text)
        case {"/": {"bytes": str(text), **inner}, **rest} if not rest and not inner:
            return _bytes(text)
        case _:
            raise InvalidRecord('the key "/" is reserved for links and bytes')


def _link(text: str) -> ContentId:
    try:
        return ContentId.parse(text)
    except InvalidId as error:
        raise InvalidRecord(f"a link is {error}") from error


def _bytes(text: str) -> bytes:
    """Base64 without padding, refused unless it is the one spelling of these bytes."""
    try:
        content = binascii.a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)
    except ValueError as error:
        raise InvalidRecord(f"bytes are not base64: {error}") from error
    if binascii.b2a_base64(content, newline=False).decode().rstrip("=") != text:
        raise InvalidRecord("bytes are not base64 without padding")
    return content


def _not_json(name: str) -> NoReturn:
    raise InvalidRecord(f"{name} is not JSON")
