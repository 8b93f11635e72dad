"""The few looks behind the public door that tests of this level need."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from resolution_ledger import ResolutionLedger
from resolution_ledger.infra.sqlite.connections import Connections
from resolution_ledger.infra.sqlite.link import Link
from resolution_ledger.infra.sqlite.schema import TABLES

OpenLedger = Callable[..., ResolutionLedger]
"""The fixture ``open_ledger``."""

Unguarded = tuple[ResolutionLedger, sqlite3.Connection]
"""The fixture ``unguarded``."""

Rows = dict[str, list[tuple[object, ...]]]


def connections_of(ledger: ResolutionLedger) -> Connections:
    """The connections of a ledger object."""
    connections = ledger._store._database  # noqa: SLF001 (there is no other way in)
    assert isinstance(connections, Connections)
    return connections


def idle_links(ledger: ResolutionLedger) -> list[Link]:
    """The connections that wait for the next call."""
    connections = connections_of(ledger)
    writer = connections.writer._link  # noqa: SLF001 (as above)
    readers = connections.readers._idle  # noqa: SLF001 (as above)
    return [*readers, *([] if writer is None else [writer])]


@contextmanager
def own_connection(ledger: ResolutionLedger) -> Iterator[sqlite3.Connection]:
    """The connection that a ledger object, used by one thread, will use for its next call."""
    writer = connections_of(ledger).writer
    link = writer.take_turn(wait=True)
    try:
        yield link.connection
    finally:
        writer.give_turn()


def all_rows(connection: sqlite3.Connection) -> Rows:
    """Everything in the ledger's tables."""
    return {
        table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()  # noqa: S608
        for table in TABLES
    }


def files_in(directory: Path) -> dict[str, bytes]:
    """Names and bytes of all files in a directory. No ledger there may be open."""
    return {file.name: file.read_bytes() for file in directory.iterdir()}
