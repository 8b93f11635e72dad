"""DAG-JSON: a record written as JSON, read without guessing."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from resolution_ledger import ContentId, InvalidRecord
from resolution_ledger.domain.dagjson import parse_record

ID = "bafyr4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy"
LINK = ContentId(ID)

READ: dict[str, tuple[str, object]] = {
    "null": ("null", None),
    "white space around": (" \r\n\ttrue ", True),
    "text": ('"\u00e9"', "\u00e9"),
    "escape": ('"\\u00e9"', "\u00e9"),
    "escaped pair of surrogates": ('"\\ud83d\\ude00"', "\U0001f600"),
    "the greatest integer": ("18446744073709551615", 2**64 - 1),
    "the smallest integer": ("-18446744073709551616", -(2**64)),
    "an integer that no float can hold": ("9007199254740993", 2**53 + 1),
    "list": ("[1, [], {}]", [1, [], {}]),
    "keys that differ": ('{"a": 1, "A": 2, "": 3}', {"a": 1, "A": 2, "": 3}),
    "keys that only look alike": ('{"\u00e9": 1, "e\u0301": 2}', {"\u00e9": 1, "e\u0301": 2}),
    "one key at two depths": ('{"a": {"a": 1}}', {"a": {"a": 1}}),
    "a slash within a key": ('{"/a": 1, "//": 2}', {"/a": 1, "//": 2}),
    "link": (f'{{"/": "{ID}"}}', LINK),
    "link written with an escape": (f'{{"\\u002f": "{ID}"}}', LINK),
    "links inside": (f'{{"a": [{{"/": "{ID}"}}]}}', {"a": [LINK]}),
    "an id that is no link": (f'"{ID}"', ID),
    "bytes": ('{"/": {"bytes": "AP8"}}', b"\0\xff"),
    "no bytes": ('{"/": {"bytes": ""}}', b""),
    "bytes of the standard alphabet": ('{"/": {"bytes": "+/+/"}}', b"\xfb\xff\xbf"),
    "bytes inside": ('[{"/": {"bytes": "AA"}}]', [b"\0"]),
}

REFUSED: dict[str, str | bytes] = {
    "nothing": "",
    "no bytes at all": b"",
    "white space only": " ",
    "no JSON": "yes",
    "trailing word": "1 x",
    "two values": "{} {}",
    "trailing comma": "[1,]",
    "single quotes": "{'a': 1}",
    "comment": "1 // one",
    "NUL at the end": "1\0",
    "leading zero": "01",
    "leading plus": "+1",
    "control character in text": '"\n"',
    "cut short": '{"a": [1, 2',
    "NaN": "NaN",
    "infinity": '{"a": Infinity}',
    "negative infinity": "[-Infinity]",
    "an integer of 5000 digits": "9" * 5000,
    "repeated key": '{"a": 1, "a": 1}',
    "repeated key inside": '[{"b": {"a": 1, "c": 2, "a": 3}}]',
    "repeated key, once escaped": '{"a": 1, "\\u0061": 2}',
    "repeated link": f'{{"/": "{ID}", "/": "{ID}"}}',
    "repeated bytes": '{"/": {"bytes": "AA", "bytes": "AA"}}',
    "deep list": "[" * 100_000,
    "deep list that is closed": "[" * 100_000 + "]" * 100_000,
    "deep map": '{"a":' * 100_000,
    "deep links": '{"/":' * 100_000,
    "link with a key more": f'{{"/": "{ID}", "a": 1}}',
    "link with a key before": f'{{"a": 1, "/": "{ID}"}}',
    "link to an id in upper case": f'{{"/": "{ID.upper()}"}}',
    "link to an id with white space": f'{{"/": "{ID} "}}',
    "link to an id of another codec": f'{{"/": "{ID.replace("fyr", "fkr", 1)}"}}',
    "link to nothing": '{"/": ""}',
    "link to a path": '{"/": "/a/b"}',
    "link to a lone surrogate": '{"/": "\\ud800"}',
    "link to a number": '{"/": 1}',
    "link to null": '{"/": null}',
    "link to a list": f'{{"/": ["{ID}"]}}',
    "link to a link": f'{{"/": {{"/": "{ID}"}}}}',
    "link to an empty map": '{"/": {}}',
    "link to a map": f'{{"/": {{"cid": "{ID}"}}}}',
    "bytes with a key more": '{"/": {"bytes": "AA", "a": 1}}',
    "bytes with a key beside": '{"/": {"bytes": "AA"}, "a": 1}',
    "bytes with padding": '{"/": {"bytes": "AA=="}}',
    "bytes of padding": '{"/": {"bytes": "===="}}',
    "bytes of one digit": '{"/": {"bytes": "A"}}',
    "bytes with bits left over": '{"/": {"bytes": "AB"}}',
    "bytes in the URL alphabet": '{"/": {"bytes": "-_-_"}}',
    "bytes with white space": '{"/": {"bytes": "AA AA"}}',
    "bytes with a newline": '{"/": {"bytes": "AAAA\\n"}}',
    "bytes that are no base64": '{"/": {"bytes": "?!"}}',
    "bytes beyond ASCII": '{"/": {"bytes": "\u00e9\u00e9"}}',
    "bytes of a lone surrogate": '{"/": {"bytes": "\\ud800"}}',
    "bytes as a number": '{"/": {"bytes": 1}}',
    "bytes as a link": f'{{"/": {{"bytes": {{"/": "{ID}"}}}}}}',
    "bytes within bytes": '{"/": {"bytes": {"/": {"bytes": "AA"}}}}',
    "misuse inside": '{"a": [{"/": 1}]}',
    "byte order mark": "\ufeff1",
    "byte order mark in bytes": "\ufeff1".encode(),
    "UTF-16": '"a"'.encode("utf-16"),
    "UTF-16 without a byte order mark": '"a"'.encode("utf-16-le"),
    "UTF-32": '"a"'.encode("utf-32"),
    "Latin-1": '"\u00e9"'.encode("latin-1"),
    "UTF-8 cut short": b'"\xc3"',
    "UTF-8 longer than needed": b'"\xc0\xaf"',
    "UTF-8 of a surrogate": b'"\xed\xa0\x80"',
}

# JSON that is well formed and yet has no canonical DAG-CBOR.
NOT_MINTED: dict[str, str] = {
    "integer beyond 64 bits": "18446744073709551616",
    "negative integer beyond 64 bits": "-18446744073709551617",
    "float beyond 64 bits": "1e999",
    "lone surrogate": '"\\ud800"',
    "surrogates the wrong way round": '"\\ude00\\ud83d"',
    "lone surrogate in a key": '{"\\udfff": 1}',
    "deeper than a record may be": "[" * 500 + "]" * 500,
}


@pytest.mark.parametrize(("text", "record"), READ.values(), ids=READ)
def test_a_record_is_read_as_it_is_written(text: str, record: object) -> None:
    """From text and from its UTF-8."""
    for written in (text, text.encode()):
        read = parse_record(written)
        assert read == record
        assert type(read) is type(record)


@pytest.mark.parametrize("text", ["1.0", "0.0", "-0.0", "1e2", "1E-2", "18446744073709551616.0"])
def test_a_float_stays_a_float(text: str) -> None:
    """1.0 and 1 are two records."""
    read = parse_record(text)
    assert type(read) is float
    assert math.copysign(1, read) == math.copysign(1, float(text))
    assert read == float(text)


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_not_dag_json_is_refused(text: str | bytes) -> None:
    """By one kind of error."""
    with pytest.raises(InvalidRecord):
        parse_record(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("NaN", "NaN is not JSON"),
        ('{"a": 1, "a": 1}', "repeats a key"),
        (f'{{"/": "{ID.upper()}"}}', f"a link is not a content id: .*another spelling of {ID}"),
        ('{"/": {"bytes": "?"}}', "bytes are not base64"),
        ('{"/": {"bytes": "AA=="}}', "without padding"),
        ('{"/": 1}', 'the key "/" is reserved'),
    ],
)
def test_a_refusal_says_what_is_wrong(text: str, reason: str) -> None:
    """So that whoever wrote the record can mend it."""
    with pytest.raises(InvalidRecord, match=reason):
        parse_record(text)


@pytest.mark.parametrize("text", NOT_MINTED.values(), ids=NOT_MINTED)
def test_what_dag_cbor_cannot_carry_is_refused_at_the_latest_when_an_id_is_minted(
    text: str,
) -> None:
    """So that no two readers mint two ids from one text."""
    with pytest.raises(InvalidRecord):
        ContentId.mint(parse_record(text))


def test_a_record_read_from_json_has_the_id_of_the_record_itself() -> None:
    """With links, bytes, floats and integers of both."""
    record: dict[str, Any] = {"to": [LINK, {"deep": LINK}], "b": b"\0\xff", "f": 1.0, "i": 1}
    link = {"/": ID}
    written = {"f": 1.0, "to": [link, {"deep": link}], "i": 1, "b": {"/": {"bytes": "AP8"}}}
    assert ContentId.mint(parse_record(json.dumps(written))) == ContentId.mint(record)


@pytest.mark.parametrize(("one", "other"), [("1", "1.0"), ("0.0", "-0.0"), (f'"{ID}"', "null")])
def test_records_that_differ_have_different_ids(one: str, other: str) -> None:
    """Where Python would call some of them equal."""
    assert ContentId.mint(parse_record(one)) != ContentId.mint(parse_record(other))
