"""What of a ledger's schema is missing or another one, and making it anew."""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from ...domain.errors import CorruptLedger
from ...projections.read_models import WINNERS
from .schema import MIGRATIONS, TABLES
from .shapes import Part, parts, shapes, shapes_of


class Fault(NamedTuple):
    """A part that is missing, or an index or guard that is another one."""

    part: Part
    found: str | None


def faults(connection: sqlite3.Connection, version: int) -> list[Fault]:
    """What a ledger of this version lacks: tables, keys, indexes and guards."""
    there = {
        (kind, name): sql
        for kind, name, sql in connection.execute(
            "SELECT type, lower(name), sql FROM sqlite_master"
        )
    }
    present = shapes(connection)
    found = []
    for part in parts(version):
        sql = there.get((part.kind, part.name))
        if part.kind == "table":
            _, expected = shapes_of(version)[part.name]
            _, indexes = present.get(part.name, ((), frozenset()))
            keys = {index for index in expected if not index[0]}
            wrong = sql is None or not keys <= indexes
            if (
                sql is not None and part.name != WINNERS.table
            ):  # an older program may have made that
                wrong = wrong or _plain(sql) != _plain(part.sql)
        else:
            wrong = sql is None or _plain(sql) != _plain(part.sql)
        if wrong:
            found.append(Fault(part, sql))
    return found


def mend(connection: sqlite3.Connection, target: str) -> None:
    """Make what is missing, guards included. To be called in a transaction.

    :raises CorruptLedger: if a table is there and is another one: rows may be lost or doubled.
    """
    for part, there in faults(connection, len(MIGRATIONS)):
        if there is not None:
            if part.kind == "table":
                raise CorruptLedger(target, f"{part.name} is another table than ours")
            connection.execute(f'DROP {part.kind} "{part.name}"')
        connection.execute(part.sql)


def _plain(sql: str) -> str:
    """The statement without its layout.

    And without quotes around the names of our tables: SQLite puts some there when a table is
    renamed. Nothing else may differ: a quoted name that there is none of is taken for a text,
    so that a guard with a few quotes more would guard nothing.
    """
    for table in TABLES:
        sql = sql.replace(f'"{table}"', table)
    return " ".join(re.split("[ \t\r\n\f]+", sql.strip()))
