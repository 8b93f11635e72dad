"""The few looks behind the public door that tests need."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from resolution_ledger import ResolutionLedger
from resolution_ledger.infra.sqlite.connection import OpenConnection
from resolution_ledger.infra.sqlite.databases import FileDatabase
from resolution_ledger.infra.sqlite.memory import MemoryDatabase
from resolution_ledger.infra.sqlite.schema import TABLES

OpenLedger = Callable[..., ResolutionLedger]
"""The fixture ``open_ledger``."""

Unguarded = tuple[ResolutionLedger, sqlite3.Connection]
"""The fixture ``unguarded``."""

Rows = dict[str, list[tuple[object, ...]]]


def database_of(ledger: ResolutionLedger) -> FileDatabase | MemoryDatabase:
    """The database of a ledger object."""
    database = ledger._store.database  # noqa: SLF001 (there is no other way in)
    assert isinstance(database, FileDatabase | MemoryDatabase)
    return database


def kept_connections(ledger: ResolutionLedger) -> list[OpenConnection]:
    """The connections that wait for the next call."""
    database = database_of(ledger)
    writer = database.writer._connection  # noqa: SLF001 (as above)
    readers: list[OpenConnection] = []
    if isinstance(database, FileDatabase):
        seats = tuple(database.readers._idle)  # noqa: SLF001 (as above)
        readers = [seat.connection for seat in seats if seat.connection is not None]
    return [*readers, *([] if writer is None else [writer])]


@contextmanager
def own_connection(ledger: ResolutionLedger) -> Iterator[sqlite3.Connection]:
    """The connection that a ledger object, used by one thread, will write with next."""
    database = database_of(ledger)
    database.writer.read(database, lambda _: None)
    (connection,) = (
        kept.connection
        for kept in kept_connections(ledger)
        if kept is database.writer._connection  # noqa: SLF001 (as above)
    )
    yield connection


def all_rows(connection: sqlite3.Connection) -> Rows:
    """Everything in the ledger's tables."""
    return {
        table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()  # noqa: S608
        for table in TABLES
    }


def definitions(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    """Everything that the schema consists of, as SQLite has it written down."""
    return connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    ).fetchall()


def files_in(directory: Path) -> dict[str, bytes]:
    """Names and bytes of all files in a directory. No ledger there may be open."""
    return {file.name: file.read_bytes() for file in directory.iterdir()}
