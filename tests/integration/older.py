"""An older program: the first row in a table of winners decides, and there is no log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from integration.tampering import OLDER_TABLE
from processes import PATIENCE
from samples import WORKSPACE, instance, key, response

FORMS = {
    "with a rowid": OLDER_TABLE,
    "like a ledger's": OLDER_TABLE.replace("PRIMARY KEY", "PRIMARY KEY NOT NULL") + "WITHOUT ROWID",
}

Row = tuple[object, object, object, object, object]
"""Instance, workspace, response, key, tick."""


def row(i: int, r: int, k: int, tick: int, workspace: str = WORKSPACE) -> Row:
    """Response ``r`` has won instance ``i`` under key ``k``."""
    return instance(i).text, workspace, response(r).text, key(k).text, tick


def make_table(
    path: Path | str, rows: Iterable[Row], form: str = OLDER_TABLE, *, journal: str = "delete"
) -> None:
    """Make the database of an older program."""
    with closing(connect(path)) as connection, connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("BEGIN")
        connection.execute(form)
        connection.executemany("INSERT INTO interaction_resolutions VALUES (?, ?, ?, ?, ?)", rows)


def connect(path: Path | str) -> sqlite3.Connection:
    """A connection of the older program's. It waits for others."""
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)


def table(connection: sqlite3.Connection) -> list[Row]:
    """The winners, as the older program reads them."""
    return connection.execute(
        "SELECT instance_id, workspace_key, response_id, idempotency_key, resolved_tick"
        "  FROM interaction_resolutions ORDER BY instance_id"
    ).fetchall()


def decide(connection: sqlite3.Connection, i: int, r: int) -> str | None:
    """None if the older program believes that ``r`` has won, else the winner's text."""
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
