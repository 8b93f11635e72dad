"""Examining a ledger, changing nothing: neither the file, nor its journal mode, nor its WAL.

The last connection to close copies the WAL back and removes it. Not one that is opened for
reading alone; but that one leaves an empty WAL where there was none. So which of the two looks
depends on what is there. Where either would leave something, nobody looks.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from stat import S_ISREG

from ...domain.errors import CorruptLedger, NotALedger, SchemaTooNew, StoreError, StoreUnavailable
from ..health import Examination, Observation
from . import builds, forks, surroundings
from .connection import OpenConnection
from .errors import DATABASE_ERRORS, store_error
from .files import check_nothing_left, database_uri
from .operator import SQLiteOperatorSession
from .readers import Readers
from .recognition import check_encoding, version_of
from .schema import MIGRATIONS, TABLES
from .writer import PATIENCE

_MOST_FAULTS = 10

_DAMAGED = "the file is damaged: stop writing, keep a copy, and restore a backup or an export"

_TABLES = "SELECT lower(name) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def examine(path: str, lock_timeout: float, *, check: bool) -> Examination:
    """What is to be said of the ledger at a path.

    :raises StoreUnavailable: if there is no file, or it cannot be looked up.
    """
    forks.check(path)
    place = os.path.realpath(path)
    try:
        status = os.stat(place)
        if not S_ISREG(status.st_mode):
            raise StoreUnavailable(path, "it is no ordinary file")
        around = tuple(surroundings.observed(place, status))
    except FileNotFoundError:
        raise StoreUnavailable(path, "there is no such file") from None
    except (OSError, ValueError) as error:
        raise StoreUnavailable(path, f"cannot be looked up: {error}") from error
    inside, shared = _inside(path, place, lock_timeout, check=check)
    return Examination((*builds.observed(shared=shared), *around, *inside))


def _inside(
    path: str, place: str, lock_timeout: float, *, check: bool
) -> tuple[tuple[Observation, ...], bool]:
    """What is to be said of the database, and whether others have tables in it."""
    waiting = [name for name in (f"{place}-wal", f"{place}-journal") if os.path.lexists(name)]
    folder = os.path.dirname(place)
    if not waiting and surroundings.may_write(folder) and not surroundings.may_write(place):
        advice = "not looked into: for a user who may only read, SQLite would leave files here"
        return (Observation("ledger", None, "warning", advice),), False
    if odd := surroundings.odd_neighbours(place):
        # SQLite would wait for whoever writes to a pipe, or leave something beside the rest.
        advice = f"not looked into: {odd[0]} is no ordinary file"
        return (Observation("ledger", None, "warning", advice),), False
    try:
        check_nothing_left(path, place)
    except StoreUnavailable as error:
        return (_failure(error),), False
    look = _Look(path, place, lock_timeout, read_only=bool(waiting))
    try:
        return look.readers.call(_seen, check, None)
    except StoreError as error:
        return (_failure(error),), False
    finally:
        look.readers.close(lock_timeout)


def _seen(session: SQLiteOperatorSession, check: bool) -> tuple[tuple[Observation, ...], bool]:  # noqa: FBT001 - as readers call it
    seen: list[Observation] = []
    try:
        seen.extend(observed(session, check=check))
        tables = {name for (name,) in session.connection.execute(_TABLES)}
    except StoreError as error:
        return (*seen, _failure(error)), False
    except DATABASE_ERRORS as error:
        return (*seen, _failure(store_error(error, session.target))), False
    return tuple(seen), bool(tables - {*TABLES})


def observed(session: SQLiteOperatorSession, *, check: bool) -> Iterator[Observation]:
    """What is to be said of a database, as far as one can look."""
    connection = session.connection
    yield builds.durability(connection)
    ((mode,),) = connection.execute("PRAGMA journal_mode").fetchall()
    if mode in {"wal", "memory"}:
        yield Observation("journal mode", mode)
    else:
        yield Observation("journal mode", mode, "note", "the next write puts it into WAL mode")
    try:
        yield from _ledger(session)
    except StoreError as error:
        yield _failure(error)
    if check:
        yield from _check(session)
    else:
        yield Observation("check", None, "note", "it was not asked for")


def _ledger(session: SQLiteOperatorSession) -> Iterator[Observation]:
    connection, target = session.connection, session.target
    try:
        version = version_of(connection, target, incomplete=True)
        if version == 0:
            raise NotALedger(target, "it is a database without a ledger")
        check_encoding(connection, target)
    except DATABASE_ERRORS as error:
        raise store_error(error, target) from error
    yield Observation("ledger", session.ledger_id())
    if version < len(MIGRATIONS):
        advice = f"the next write makes it {len(MIGRATIONS)}; from then on older code stops"
        yield Observation("schema version", version, "note", advice)
    else:
        yield Observation("schema version", version)
    yield Observation("events", session.head_sequence())


def _check(session: SQLiteOperatorSession) -> Iterator[Observation]:
    try:
        rows = session.connection.execute(f"PRAGMA quick_check({_MOST_FAULTS})").fetchall()
    except DATABASE_ERRORS as error:
        failure = store_error(error, session.target)
        if isinstance(failure, CorruptLedger):  # too damaged even for that
            yield Observation("check", failure.reason, "warning", _DAMAGED)
        else:
            yield Observation("check", None, "warning", _described(failure))
        return
    for line in (str(line) for (line,) in rows):
        if line == "ok":
            yield Observation("check", line)
        else:
            yield Observation("check", line, "warning", _DAMAGED)


def _failure(error: StoreError) -> Observation:
    """What stops everybody, or is in the way of looking."""
    if isinstance(error, SchemaTooNew):
        return Observation("schema version", error.found, "warning", _described(error))
    return Observation("ledger", None, "warning", _described(error))


def _described(error: StoreError) -> str:
    return f"{type(error).__name__}: {error.reason}"


class _Look:
    """A connection for one look. It crosses no fork, as none does."""

    def __init__(self, path: str, place: str, lock_timeout: float, *, read_only: bool) -> None:
        self._path = path
        self._place = place
        self._read_only = read_only
        self.readers = Readers(path, self._open, lock_timeout)
        self._patience = lock_timeout + PATIENCE
        forks.watch(self)

    def _open(self, timeout: float) -> OpenConnection:
        identity = os.stat(self._place)[1:4]
        uri = database_uri(self._place, create=False)
        if self._read_only:
            uri = uri.removesuffix("rw") + "ro"
        try:
            connection = sqlite3.connect(
                uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
            )
        except DATABASE_ERRORS as error:
            raise store_error(error, self._path) from error
        return OpenConnection(connection, self._path, identity, reading=True)

    def drain(self) -> None:
        """Before a fork."""
        self.readers.drain(self._patience)

    def resume(self) -> None:
        """After it, in the parent."""
        self.readers.resume()

    def resume_in_child(self) -> None:
        """After it, in the child."""
        if not self.readers.resume_in_child():
            forks.refuse(self._path)
