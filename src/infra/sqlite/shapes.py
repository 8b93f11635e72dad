"""What the tables of a database look like: columns and indexes, whatever the stored SQL says.

So comments, quoting and case do not matter, and additions by others (indexes, triggers, views) are
fine. Of guards, and of what an index leaves out, there is nothing but the text to compare.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import NamedTuple

from ...projections.read_models import WINNERS
from .schema import MIGRATIONS, TABLES

Columns = tuple[tuple[object, ...], ...]
Indexes = frozenset[tuple[object, ...]]
Shape = tuple[Columns, Indexes]


class Part(NamedTuple):
    """A table, index or trigger of the schema."""

    kind: str
    name: str
    sql: str


@cache
def parts(version: int) -> tuple[Part, ...]:
    """What a version consists of, in the order of its making, read off a fresh schema."""
    with closing(_fresh(version)) as connection:
        return tuple(
            map(
                Part._make,
                connection.execute(
                    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
                ),
            )
        )


@cache
def shapes_of(version: int) -> dict[str, Shape]:
    """What our tables look like in a version."""
    with closing(_fresh(version)) as connection:
        return {name: shape for name, shape in shapes(connection).items() if name in TABLES}


def _fresh(version: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for migration in MIGRATIONS[:version]:
        migration(connection)
    return connection


_Schema = tuple[tuple[object, ...], ...]

_read: dict[_Schema, dict[str, Shape]] = {}
"""Shapes by the schema that they were read off, as it is stored. For hosts that open a ledger for
each request: to read them again takes longer than to decide."""
_MOST_READ, _LARGEST = 8, 500
"""Schemas that are kept, and how many things may be in them."""


def shapes(connection: sqlite3.Connection) -> dict[str, Shape]:
    """Columns and indexes of whatever bears the name of a table or index of ours."""
    schema = _schema(connection)
    found = _read.get(schema)
    if found is None:
        found = _read_shapes(connection)
        # Outside a transaction it may have changed in between.
        if len(schema) <= _LARGEST and schema == _schema(connection):
            if len(_read) >= _MOST_READ:
                _read.clear()
            _read[schema] = found
    return found


def _schema(connection: sqlite3.Connection) -> _Schema:
    return tuple(
        connection.execute(
            # As bytes: what others have there need not be UTF-8.
            "SELECT type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB)"
            " FROM sqlite_master ORDER BY rowid"
        )
    )


def _read_shapes(connection: sqlite3.Connection) -> dict[str, Shape]:
    ours = {part.name for part in parts(len(MIGRATIONS)) if part.kind != "trigger"}
    rows = connection.execute("SELECT lower(name) FROM sqlite_master")
    names = {name for (name,) in rows if name in ours}
    return {
        name: (_columns(connection, name) + _rowid(connection, name), _indexes(connection, name))
        for name in names
    }


def _columns(connection: sqlite3.Connection, table: str) -> Columns:
    return tuple(
        connection.execute(
            # A key that may be NULL, as in tables with a rowid, is as good: no row of ours is.
            'SELECT lower(name), upper(type), max("notnull", pk > 0), dflt_value, pk, hidden'
            " FROM pragma_table_xinfo(?) ORDER BY cid",
            (table,),
        )
    )


def _rowid(connection: sqlite3.Connection, table: str) -> Columns:
    """A column more for the tables in which a sequence must be a rowid: else it could be text."""
    if table not in TABLES or table == WINNERS.table:
        return ()
    try:
        connection.execute(f"SELECT rowid FROM {table} LIMIT 0")
    except sqlite3.OperationalError:
        return ()
    return (("rowid",),)


def _indexes(connection: sqlite3.Connection, table: str) -> Indexes:
    """Each index as: its name, where a query names it; unique, partial; its columns, in order.

    With their collations: under another one than BINARY, other texts would be the same key.
    """
    return frozenset(
        connection.execute(
            "SELECT CASE origin WHEN 'c' THEN list.name END, list.\"unique\", list.partial,"
            " (SELECT group_concat(lower(info.name) || ' ' || info.coll || ' ' || info.desc)"
            "    FROM pragma_index_xinfo(list.name) AS info WHERE info.key)"
            " FROM pragma_index_list(?) AS list",
            (table,),
        )
    )
