"""Database calls of which the n-th one fails, whichever that is: with each kind of error, and at
each moment at which SQLite can say so.

What fails is a call of the ``sqlite3`` module: to connect, to execute, to fetch. The errors are the
ones that it raises, with the codes that it gives them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, TypeVar

import pytest
from msgspec import Struct

T = TypeVar("T")

When = Literal["before", "after", "undone", "stuck"]
"""Before: the call has had no effect. After: it has, and nobody is told. Undone: it has none, and
SQLite has rolled the whole transaction back, as it may after an error. Stuck: as before, and the
ROLLBACK that follows fails as well."""

really_connect = sqlite3.connect
"""For those who look on."""


class Kind(Struct, frozen=True):
    """An error that SQLite reports."""

    name: str
    code: int
    error: type[Exception] = sqlite3.OperationalError


BUSY = Kind("SQLITE_BUSY", sqlite3.SQLITE_BUSY)
FULL = Kind("SQLITE_FULL", sqlite3.SQLITE_FULL)
IO_ERROR = Kind("SQLITE_IOERR_FSYNC", sqlite3.SQLITE_IOERR_FSYNC)
INTERRUPT = Kind("SQLITE_INTERRUPT", sqlite3.SQLITE_INTERRUPT)
CORRUPT = Kind("SQLITE_CORRUPT", sqlite3.SQLITE_CORRUPT, sqlite3.DatabaseError)

MAIN_KINDS = (BUSY, FULL, IO_ERROR, INTERRUPT, CORRUPT)
"""One of each class that the ledger tells apart."""

LOCKED = Kind("SQLITE_LOCKED", sqlite3.SQLITE_LOCKED)

CONTENTION = (BUSY, LOCKED)
"""Somebody else is in the way."""

KINDS = (
    *MAIN_KINDS,
    LOCKED,
    Kind("SQLITE_IOERR_WRITE", sqlite3.SQLITE_IOERR_WRITE),
    Kind("SQLITE_READONLY", sqlite3.SQLITE_READONLY),
    Kind("SQLITE_CANTOPEN", sqlite3.SQLITE_CANTOPEN),
    Kind("SQLITE_NOMEM", sqlite3.SQLITE_NOMEM, MemoryError),
)


class Fault:
    """The n-th call fails, once."""

    def __init__(self, n: int, kind: Kind, when: When) -> None:
        self._left = n
        self.kind = kind
        self._when = when
        self.fired: str | None = None
        """What it was that failed; None if there were not so many calls."""
        self.stuck = False
        """Whether a ROLLBACK has failed, too."""

    def meet(self, what: str, connection: sqlite3.Connection | None, do: Callable[[], T]) -> T:
        """Do it, unless it is the one to fail."""
        self._left -= 1
        if self._left < 0 and what == "ROLLBACK" and self._when == "stuck" and not self.stuck:
            self.stuck = True
        elif self._left != 0:
            return do()
        else:
            self.fired = what
        if self._when == "after":
            done = do()
            if isinstance(done, sqlite3.Connection):
                done.close()  # as the module does where it cannot return it
        elif self._when == "undone" and connection is not None and connection.in_transaction:
            sqlite3.Connection.rollback(connection)
        error = self.kind.error(f"injected into {what}")
        if isinstance(error, sqlite3.Error):
            error.sqlite_errorcode = self.kind.code
            error.sqlite_errorname = self.kind.name
        raise error


_fault: Fault | None = None


def _meet(what: str, connection: sqlite3.Connection | None, do: Callable[[], T]) -> T:
    return do() if _fault is None else _fault.meet(what, connection, do)


class _Cursor(sqlite3.Cursor):
    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._do(statement, lambda: sqlite3.Cursor.execute(self, statement, *values))

    def executemany(self, statement: str, values: Any) -> sqlite3.Cursor:
        return self._do(statement, lambda: sqlite3.Cursor.executemany(self, statement, values))

    def fetchone(self) -> Any:
        return self._do("fetchone", lambda: sqlite3.Cursor.fetchone(self))

    def fetchall(self) -> list[Any]:
        return self._do("fetchall", lambda: sqlite3.Cursor.fetchall(self))

    def __next__(self) -> Any:
        return self._do("next", lambda: sqlite3.Cursor.__next__(self))

    def _do(self, what: str, do: Callable[[], T]) -> T:
        try:
            return _meet(what, self.connection, do)
        except StopIteration:
            raise
        except Exception:
            with suppress(sqlite3.Error):  # it has gone with its transaction
                sqlite3.Cursor.fetchall(self)  # a statement that fails is at its end
            raise


class _Connection(sqlite3.Connection):
    def cursor(self, _: Any = None) -> Any:
        return sqlite3.Connection.cursor(self, _Cursor)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self.cursor().execute(statement, *values)

    def executemany(self, statement: str, values: Any) -> sqlite3.Cursor:
        return self.cursor().executemany(statement, values)

    def executescript(self, script: str) -> sqlite3.Cursor:
        return _meet(script, self, lambda: sqlite3.Connection.executescript(self, script))


def _connect(*values: Any, **options: Any) -> sqlite3.Connection:
    return _meet("connect", None, lambda: really_connect(*values, **options, factory=_Connection))


@contextmanager
def can_fail() -> Iterator[None]:
    """In here, connections are made such that their calls can fail."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", _connect)
        yield


@contextmanager
def failing(fault: Fault) -> Iterator[None]:
    """In here, it may fire."""
    global _fault  # noqa: PLW0603 - all connections of all threads are to see it
    _fault = fault
    try:
        yield
    finally:
        _fault = None
