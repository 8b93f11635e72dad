"""Canonical DAG-CBOR: one byte string for a record, and no bytes for what is none."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict, defaultdict, namedtuple
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import pytest

from resolution_ledger import ContentId, InvalidRecord
from resolution_ledger.domain.dagcbor import encode

LINK = ContentId("bafyr4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy")
LINK_BYTES = (
    "d82a 5825 00 01711e20 74a1c68dabb660207c842b9b7dd0953a6a8e8158bb397c5bd4ea9fceda0c4c96"
)

# Written by hand after RFC 8949: the first byte is the type and a small value, or says how
# many bytes the value has (18: one, 19: two, 1a: four, 1b: eight).
KNOWN: dict[str, tuple[Any, str]] = {
    "None": (None, "f6"),
    "True": (True, "f5"),
    "False": (False, "f4"),
    "empty text": ("", "60"),
    "text beyond ASCII": ("\u00e9\U0001f600", "66 c3a9 f09f9880"),
    "text of 24 bytes": ("x" * 24, "7818" + "78" * 24),
    "empty bytes": (b"", "40"),
    "bytes": (b"\0\xff", "42 00ff"),
    "empty list": ([], "80"),
    "list in its own order": ([3, 1, 2], "83 03 01 02"),
    "empty map": ({}, "a0"),
    "nested": ({"a": [{"b": None}]}, "a1 6161 81 a1 6162 f6"),
    "link": (LINK, LINK_BYTES),
    "link in a map": ({"a": LINK}, "a1 6161" + LINK_BYTES),
    "1.0": (1.0, "fb 3ff0000000000000"),
    "1.5": (1.5, "fb 3ff8000000000000"),
    "0.0": (0.0, "fb 0000000000000000"),
    "-0.0": (-0.0, "fb 8000000000000000"),
    "the smallest float": (5e-324, "fb 0000000000000001"),
    "the greatest float": (1.7976931348623157e308, "fb 7fefffffffffffff"),
    "0": (0, "00"),
    "23": (23, "17"),
    "24": (24, "1818"),
    "2**8 - 1": (2**8 - 1, "18ff"),
    "2**8": (2**8, "190100"),
    "2**16 - 1": (2**16 - 1, "19ffff"),
    "2**16": (2**16, "1a00010000"),
    "2**32 - 1": (2**32 - 1, "1affffffff"),
    "2**32": (2**32, "1b0000000100000000"),
    "2**63": (2**63, "1b8000000000000000"),
    "2**64 - 1": (2**64 - 1, "1bffffffffffffffff"),
    "-1": (-1, "20"),
    "-24": (-24, "37"),
    "-25": (-25, "3818"),
    "-2**8": (-(2**8), "38ff"),
    "-2**8 - 1": (-(2**8) - 1, "390100"),
    "-2**16": (-(2**16), "39ffff"),
    "-2**16 - 1": (-(2**16) - 1, "3a00010000"),
    "-2**32": (-(2**32), "3affffffff"),
    "-2**32 - 1": (-(2**32) - 1, "3b0000000100000000"),
    "-2**63 - 1": (-(2**63) - 1, "3b8000000000000000"),
    "-2**64": (-(2**64), "3bffffffffffffffff"),
}


class _Word(str, Enum):  # noqa: UP042 (the subject is a str that is also an Enum)
    A = "a"


class _Degrees(float):
    pass


class _Blob(bytes):
    pass


_Pair = namedtuple("_Pair", "first second")  # noqa: PYI024 (the subject is an untyped one)

SUBCLASSES: dict[str, tuple[Any, Any]] = {
    "Enum of text": (_Word.A, "a"),
    "Enum of text as a key": ({_Word.A: 1}, {"a": 1}),
    "float": (_Degrees(1.5), 1.5),
    "bytes": (_Blob(b"x"), b"x"),
    "bytearray": (bytearray(b"x"), b"x"),
    "tuple": ((1, 2), [1, 2]),
    "namedtuple": (_Pair(1, 2), [1, 2]),
    "OrderedDict": (OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
    "defaultdict": (defaultdict(int, b=1, a=2), {"a": 2, "b": 1}),
}


def _nested(levels: int, kind: type[list[Any] | dict[str, Any]]) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value] if kind is list else {"a": value}
    return value


def _within_itself(kind: type[list[Any] | dict[str, Any]]) -> Any:
    if kind is list:
        items: list[Any] = []
        items.append(items)
        return items
    entries: dict[str, Any] = {}
    entries["a"] = entries
    return entries


REFUSED: dict[str, Any] = {
    "NaN": float("nan"),
    "infinity": float("inf"),
    "negative infinity": float("-inf"),
    "2**64": 2**64,
    "-2**64 - 1": -(2**64) - 1,
    "a number too long to print": 10**5000,
    "an integer as a key": {1: "x"},
    "bytes as a key": {b"a": "x"},
    "None as a key": {None: "x"},
    "an id as a key": {LINK: "x"},
    "keys of two types": {"a": 1, 2: "x"},
    'the key "/"': {"/": "x"},
    'the key "/" with the text of an id': {"/": LINK.text},
    'the key "/" among others': {"a": 1, "/": 2},
    "set": {1},
    "frozenset": frozenset({1}),
    "range": range(2),
    "generator": (n for n in range(2)),
    "memoryview": memoryview(b"x"),
    "a mapping that is no dict": MappingProxyType({"a": 1}),
    "object": object(),
    "class": int,
    "datetime": datetime.now(UTC),
    "Decimal": Decimal(1),
    "Fraction": Fraction(1, 2),
    "complex": 1j,
    "lone surrogate": "\ud800",
    "lone surrogate in a key": {"a\udfff": 1},
    "deep list": _nested(10_000, list),
    "deep map": _nested(10_000, dict),
    "list within itself": _within_itself(list),
    "map within itself": _within_itself(dict),
}


def encoded(record: object) -> bytes:
    """The bytes, with content ids as links."""
    return encode(record, link_type=ContentId)


@pytest.mark.parametrize(("record", "expected"), KNOWN.values(), ids=KNOWN)
def test_a_value_has_its_one_encoding(record: object, expected: str) -> None:
    """Known answers."""
    assert encoded(record) == bytes.fromhex(expected)


def test_keys_are_sorted_by_length_and_then_by_bytes() -> None:
    """Length and order are those of the UTF-8."""
    ordered = ["", "a", "b", "aa", "ab", "zz", "\u00e9", "zzz", "\uffffa", "\U0001f600"]
    record = dict.fromkeys(reversed(ordered), 0)
    expected = b"\xaa" + b"".join(encoded(key) + b"\0" for key in ordered)
    assert encoded(record) == expected


@pytest.mark.parametrize(("value", "plain"), SUBCLASSES.values(), ids=SUBCLASSES)
def test_a_value_of_a_subclass_is_encoded_as_its_plain_value(value: object, plain: object) -> None:
    """The bytes depend on what the value is, not on how it came to be."""
    assert encoded(value) == encoded(plain)
    assert encoded({"deep": [value]}) == encoded({"deep": [plain]})


def test_an_integer_of_a_subclass_is_encoded_as_a_plain_one() -> None:
    """In a process of its own: a walk through all 64-bit integers could not be interrupted."""
    program = """if True:
        from enum import IntEnum, IntFlag
        from resolution_ledger import ContentId
        from resolution_ledger.domain.dagcbor import encode
        numbers = [IntEnum("E", "ONE")(1), IntFlag("F", "ONE")(1), type("N", (int,), {})(1)]
        print(encode(numbers, link_type=ContentId).hex())
    """
    run = subprocess.run(
        [sys.executable, "-c", program], timeout=10, check=True, capture_output=True, text=True
    )
    assert run.stdout.strip() == "83010101"


@pytest.mark.parametrize("kind", [list, dict])
def test_a_record_of_many_levels_is_encoded(kind: type[list[Any] | dict[str, Any]]) -> None:
    """Far more than records have."""
    level = b"\x81" if kind is list else b"\xa1\x61a"
    assert encoded(_nested(200, kind)) == level * 200 + b"\0"


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"a": {"b": x}}])
@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_what_has_no_form_in_dagcbor_is_refused(value: object, wrap: Any) -> None:
    """Wherever in the record it is."""
    with pytest.raises(InvalidRecord):
        encoded(wrap(value))


@pytest.mark.parametrize("kind", [list, dict])
def test_a_record_within_itself_is_refused_however_deep_the_caller_stands(
    kind: type[list[Any] | dict[str, Any]],
) -> None:
    """The stack that is left must not decide which error there is."""

    def from_below(frames: int) -> bytes:
        return from_below(frames - 1) if frames else encoded(_within_itself(kind))

    with pytest.raises(InvalidRecord):
        from_below(sys.getrecursionlimit() // 2)


def test_what_was_encoded_is_left_as_it_was() -> None:
    """The order of the caller's keys included."""
    record = {"bb": [1, {"z": 1, "a": 2}], "a": bytearray(b"x")}
    encoded(record)
    assert record == {"bb": [1, {"z": 1, "a": 2}], "a": bytearray(b"x")}
    assert list(record) == ["bb", "a"]
