"""A program with a one-row table: the first row for an instance decides, and there is no log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from processes import PATIENCE
from samples import WORKSPACE, instance, key, response

ONE_ROW_TABLE = """
    CREATE TABLE interaction_resolutions (
        instance_id TEXT PRIMARY KEY,
        workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        resolved_tick INTEGER NOT NULL
    )
"""

FORMS = {
    "with a rowid": ONE_ROW_TABLE,
    "like a ledger's": ONE_ROW_TABLE.replace(" KEY", " KEY NOT NULL") + "WITHOUT ROWID",
}

Row = tuple[object, object, object, object, object]
"""Instance, workspace, response, key, tick."""


def row(i: int, r: int, k: int, tick: int, workspace: str = WORKSPACE) -> Row:
    """Response ``r`` has won instance ``i`` under key ``k``."""
    return instance(i).text, workspace, response(r).text, key(k).text, tick


def make_table(
    path: Path | str, rows: Iterable[Row], form: str = ONE_ROW_TABLE, *, journal: str = "delete"
) -> None:
    """Make the database of such a program."""
    with closing(connect(path)) as connection, connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("BEGIN")
        connection.execute(form)
        connection.executemany("INSERT INTO interaction_resolutions VALUES (?, ?, ?, ?, ?)", rows)


def connect(path: Path | str) -> sqlite3.Connection:
    """A connection of such a program's. It waits for others."""
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def table(connection: sqlite3.Connection) -> list[Row]:
    """The winners, as such a program reads them."""
    return connection.execute(
        "SELECT instance_id, workspace_key, response_id, idempotency_key, resolved_tick"
        "  FROM interaction_resolutions ORDER BY instance_id"
    ).fetchall()


def decide(connection: sqlite3.Connection, i: int, r: int) -> str | None:
    """None if the program believes that ``r`` has won, else the winner's text."""
    inserted = connection.execute(
        "INSERT INTO interaction_resolutions VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        row(i, r, r, 0),
    )
    if inserted.rowcount == 1:
        return None
    ((winner,),) = connection.execute(
        "SELECT response_id FROM interaction_resolutions WHERE instance_id = ?",
        (instance(i).text,),
    )
    return str(winner)
