"""From what SQLite says to what a caller can do about it."""

from __future__ import annotations

import sqlite3

from ...domain.errors import (
    CorruptLedger,
    LedgerClosed,
    NotALedger,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)

DatabaseFault = sqlite3.Error | UnicodeDecodeError | OverflowError
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError, OverflowError)
"""What a statement may raise. The last two are Python's: for a message of SQLite's that quotes
damaged text, and for a number past what the log has room for."""

_KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_NOTADB: NotALedger,
    sqlite3.SQLITE_CORRUPT: CorruptLedger,
    # A table or column of ours has gone, or holds what cannot be there.
    sqlite3.SQLITE_ERROR: CorruptLedger,
    sqlite3.SQLITE_MISMATCH: CorruptLedger,
    # Only ever a bug or damage: we insert after having read, under the write lock,
    # so no violated key can mean that somebody else was first.
    sqlite3.SQLITE_CONSTRAINT: CorruptLedger,
}
"""By primary result code; everything else (full, read-only, I/O, ...) is unavailable."""


def store_error(error: DatabaseFault, target: str, *, outcome_unknown: bool = False) -> StoreError:
    """The error to raise in place of ``error``."""
    code = primary_code(error)
    if code is None:
        return _from_the_module(error, target)
    kind = _KINDS.get(code, StoreUnavailable)
    reason = f"{error} ({getattr(error, 'sqlite_errorname', code)})"
    if kind is CorruptLedger:
        return CorruptLedger(target, reason, outcome_unknown=outcome_unknown)
    return kind(target, reason, outcome_unknown=outcome_unknown)


def primary_code(error: DatabaseFault) -> int | None:
    """SQLite's primary result code; None for errors that Python's module raises itself."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _from_the_module(error: DatabaseFault, target: str) -> StoreError:
    """Errors that Python raises itself, before or after SQLite was asked."""
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return LedgerClosed(target, "closed while in use")
    # Text that is not UTF-8, values out of range: nothing that we write.
    return CorruptLedger(target, str(error))
