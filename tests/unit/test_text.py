"""Keys and labels: text of limited size, compared by code point."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from resolution_ledger import IdempotencyKey, InvalidText
from resolution_ledger.domain.text import check_text

FITTING: dict[str, str] = {
    "one letter": "k",
    "511 bytes": "x" * 511,
    "512 bytes": "x" * 512,
    "512 bytes of two-byte letters": "\u00e9" * 256,
    "512 bytes of four-byte letters": "\U0001f600" * 128,
    "512 bytes of both": "x" + "\u00e9" * 255 + "x",
    "white space": " \t\n",
    "control characters": "\x01\x1f\x7f\x85",
    "noncharacters": "\ufffe\uffff\U0010ffff",
}

REFUSED: dict[str, tuple[Any, str]] = {
    "513 bytes": ("x" * 513, "is longer than 512 bytes"),
    "513 bytes in 257 letters": ("x" + "\u00e9" * 256, "is longer than 512 bytes"),
    "516 bytes of four-byte letters": ("\U0001f600" * 129, "is longer than 512 bytes"),
    "a million letters": ("x" * 1_000_000, "is longer than 512 bytes"),
    "NUL": ("\0", "contains NUL"),
    "NUL inside": ("a\0b", "contains NUL"),
    "NUL at the end": ("a\0", "contains NUL"),
    "a high surrogate": ("\ud800", "contains a lone surrogate"),
    "a low surrogate": ("a\udfff", "contains a lone surrogate"),
    "a pair as two surrogates": ("\ud83d\ude00", "contains a lone surrogate"),
    "None": (None, "is not text"),
    "bytes": (b"k", "is not text"),
    "an integer": (1, "is not text"),
    "a list": (["k"], "is not text"),
    "a key": (IdempotencyKey("k"), "is not text"),
}


class _Word(str, Enum):  # noqa: UP042 (the subject is a str that is also an Enum)
    A = "a"


class _Shouting(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


@pytest.mark.parametrize("text", FITTING.values(), ids=FITTING)
def test_text_that_fits_is_kept_as_it_is(text: str) -> None:
    """As a key and as a label."""
    assert IdempotencyKey(text).text == str(IdempotencyKey(text)) == text
    assert check_text("label", text, may_be_empty=True) == text


@pytest.mark.parametrize(("value", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_stored_is_refused_and_says_why(value: object, reason: str) -> None:
    """By the name of the field."""
    for name, refused in (
        ("idempotency key", lambda: IdempotencyKey(value)),  # type: ignore[arg-type]
        ("label", lambda: check_text("label", value, may_be_empty=True)),
    ):
        with pytest.raises(InvalidText) as refusal:
            refused()
        assert refusal.value.what == name
        assert refusal.value.value is value
        assert refusal.value.reason == reason


def test_a_key_is_never_empty() -> None:
    """A submission must be told from the next one."""
    with pytest.raises(InvalidText, match="idempotency key is empty"):
        IdempotencyKey("")


def test_a_label_is_empty_only_where_it_may_be() -> None:
    """Which has to be said."""
    assert check_text("label", "", may_be_empty=True) == ""
    with pytest.raises(InvalidText, match="label is empty"):
        check_text("label", "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("\u00e9", "e\u0301", id="composed and decomposed"),
        pytest.param("K", "\u212a", id="K and Kelvin sign"),
        pytest.param("k", "K", id="case"),
        pytest.param("k", "k ", id="trailing space"),
        pytest.param("1", "\u0661", id="digits of two scripts"),
    ],
)
def test_keys_that_only_look_alike_are_two_keys(one: str, other: str) -> None:
    """Nothing is normalised."""
    assert IdempotencyKey(one) != IdempotencyKey(other)
    assert len({IdempotencyKey(one), IdempotencyKey(other)}) == 2


def test_keys_of_one_text_are_one_key() -> None:
    """And find each other in a dict."""
    assert {IdempotencyKey("k"): 1}[IdempotencyKey("k")] == 1
    assert IdempotencyKey("k") != "k"


class _Liar(str):
    """Text that says of itself what is not so."""

    __slots__ = ()

    def encode(self, *_: object) -> bytes:  # type: ignore[override]
        return b"short"

    def __contains__(self, _: object) -> bool:
        return False

    def __bool__(self) -> bool:
        return True


@pytest.mark.parametrize("text", ["", "a\0", "\ud800", "x" * 513])
def test_a_subclass_of_text_is_judged_by_what_it_holds(text: str) -> None:
    with pytest.raises(InvalidText):
        IdempotencyKey(_Liar(text))


def test_a_key_cannot_be_changed() -> None:
    """It has been checked."""
    key = IdempotencyKey("k")
    with pytest.raises(AttributeError):
        key.text = ""  # type: ignore[misc]
    assert key.text == "k"


@pytest.mark.parametrize(("value", "plain"), [(_Word.A, "a"), (_Shouting("a"), "a")])
def test_a_subclass_of_text_is_stored_as_plain_text(value: str, plain: str) -> None:
    """What is stored must compare as its characters do."""
    stored = IdempotencyKey(value).text
    assert type(stored) is str
    assert stored == plain
    assert type(check_text("label", value)) is str
