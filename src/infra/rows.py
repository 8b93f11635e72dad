"""Rows of the log and parts of the schema, as databases hand them over."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

T = TypeVar("T")

StoredRow = tuple[int, str, int, str, bytes]
"""An event as the log holds it: sequence, stream, position, tag, bytes."""

NewRow = tuple[str, int, str, bytes, int]
"""An event about to be appended: stream, position, tag, bytes, fingerprint."""


class Page(list[T]):
    """Rows that were read at once, in order."""

    cut = False
    """Whether more may follow: as many were read as asked for, or as memory is given to."""


class SchemaPart(NamedTuple):
    """A table, index or guard that is missing or another one."""

    name: str
    expected: str
    """What the database should say of it, on one line."""
    found: str | None
    """What it says, as it says it; None if it is not there."""


_LOG_TYPES = (int, str, int, str, bytes, int, bytes)


class LogRow(NamedTuple):
    """An event with all that the log has of it; in a damaged one, values of any type."""

    sequence: int
    stream: str
    position: int
    tag: str
    state: bytes
    fingerprint: int
    hash: bytes

    @property
    def mistyped(self) -> str | None:
        """The first column whose value is of a type that it cannot be; None if there is none."""
        if tuple(map(type, self)) == _LOG_TYPES:
            return None
        columns = zip(self._fields, self, _LOG_TYPES, strict=True)
        return next(name for name, value, due in columns if type(value) is not due)

    @property
    def stored(self) -> StoredRow:
        """Without what was derived from it."""
        return self[:5]
