"""Text that the ledger stores and compares: keys and labels."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from .errors import InvalidText

MAX_TEXT_BYTES = 512
"""The longest key or label, in bytes of UTF-8."""


def check_text(what: str, value: object, *, may_be_empty: bool = False) -> str:
    """Return ``value`` if it is text that can be stored and compared by code point.

    No normalisation: two spellings that merely look alike are two texts.

    :raises InvalidText: naming the field ``what``.
    """
    if (
        type(value) is str
        and value.isascii()
        and 0 < len(value) <= MAX_TEXT_BYTES
        and "\0" not in value
    ):
        return value  # nearly always: what follows finds out what is special about a text
    if not isinstance(value, str):
        raise InvalidText(what, value, "is not text")
    value = str.__str__(value)  # a subclass could check, compare or print otherwise
    if not value and not may_be_empty:
        raise InvalidText(what, value, "is empty")
    if "\0" in value:
        raise InvalidText(what, value, "contains NUL")  # C strings in databases end there
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidText(what, value, "contains a lone surrogate") from None
    if size > MAX_TEXT_BYTES:
        raise InvalidText(what, value, f"is longer than {MAX_TEXT_BYTES} bytes")
    return value


class IdempotencyKey(Struct, frozen=True, gc=False):
    """A caller's promise: the same key on the same instance is the same submission.

    :raises InvalidText: unless ``text`` is 1 to 512 bytes of UTF-8 with no NUL.
    """

    text: str

    def __post_init__(self) -> None:
        plain = check_text("idempotency key", self.text)
        if plain is not self.text:
            force_setattr(self, "text", plain)

    def __str__(self) -> str:
        return self.text
