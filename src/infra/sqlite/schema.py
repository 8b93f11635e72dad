"""The tables, their guards, how they come to be and how they are recognised.

Each migration takes the schema one version on, and a fresh ledger is made by running them
all: so a fresh schema and a migrated one are the same.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache

from ...domain.errors import CorruptLedger, NotALedger, SchemaTooNew

EVENTS, META = "resolution_events", "resolution_ledger_meta"
WINNERS, LOSERS = "interaction_resolutions", "losing_attempts"
TABLES = (EVENTS, META, WINNERS, LOSERS)
_NAMES = {*TABLES, "resolution_events_by_fingerprint", "losing_attempts_newest"}
_META_COLUMNS = (
    ("id", "INTEGER", 0, None, 1, 0),
    ("schema_version", "INTEGER", 1, None, 0, 0),
    ("ledger_id", "TEXT", 1, None, 0, 0),
)
"""Name, type, NOT NULL, default, place in the primary key, hidden."""

Migration = Callable[[sqlite3.Connection], None]


def _create(connection: sqlite3.Connection) -> None:
    """Version 1."""
    for statement in _CREATE_STATEMENTS:
        connection.execute(statement)
    # The identity tells two ledgers apart that held the same place one after the other.
    connection.execute(
        "INSERT INTO resolution_ledger_meta (id, schema_version, ledger_id) VALUES (1, 1, ?)",
        (secrets.token_hex(16),),
    )


MIGRATIONS: tuple[Migration, ...] = (_create,)
"""Migration n (from 0) takes the schema from version n to version n + 1."""

_CREATE_STATEMENTS = (
    """
    CREATE TABLE resolution_ledger_meta (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        schema_version INTEGER NOT NULL,
        ledger_id TEXT NOT NULL
    )
    """,
    # An explicit sequence: VACUUM may renumber an implicit rowid.
    # The unique key is the arbiter: one position 1 for each stream.
    """
    CREATE TABLE resolution_events (
        sequence INTEGER PRIMARY KEY NOT NULL,
        originator_id TEXT NOT NULL,
        originator_version INTEGER NOT NULL,
        topic TEXT NOT NULL,
        state BLOB NOT NULL,
        fingerprint INTEGER NOT NULL,
        hash BLOB NOT NULL,
        UNIQUE (originator_id, originator_version)
    )
    """,
    # Wins are found by their position and need no entry here.
    """
    CREATE INDEX resolution_events_by_fingerprint
        ON resolution_events (fingerprint) WHERE originator_version > 1
    """,
    """
    CREATE TABLE interaction_resolutions (
        instance_id TEXT PRIMARY KEY NOT NULL,
        workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        resolved_tick INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE losing_attempts (
        sequence INTEGER PRIMARY KEY NOT NULL,
        instance_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        submitted_by TEXT NOT NULL,
        attempted_tick INTEGER NOT NULL
    )
    """,
    """
    CREATE INDEX losing_attempts_newest
        ON losing_attempts (workspace_key) WHERE outcome <> 'replayed'
    """,
    """
    CREATE TRIGGER resolution_events_refuse_update BEFORE UPDATE ON resolution_events
    BEGIN SELECT RAISE(ABORT, 'resolution_events is append-only'); END
    """,
    """
    CREATE TRIGGER resolution_events_refuse_delete BEFORE DELETE ON resolution_events
    BEGIN SELECT RAISE(ABORT, 'resolution_events is append-only'); END
    """,
    # INSERT OR REPLACE deletes the old row without firing a delete trigger.
    """
    CREATE TRIGGER resolution_events_refuse_replace BEFORE INSERT ON resolution_events
    WHEN EXISTS (SELECT 1 FROM resolution_events
                  WHERE sequence = NEW.sequence
                     OR (originator_id = NEW.originator_id
                         AND originator_version = NEW.originator_version))
    BEGIN SELECT RAISE(ABORT, 'resolution_events is append-only'); END
    """,
    # A program that still decides by inserting here must not become a second decider: the log
    # must hold the win, of this response (bytes 5 to 63 of the event, see codec.py). AFTER,
    # so that its INSERT OR IGNORE on a resolved instance still does nothing.
    *(
        f"""
        CREATE TRIGGER interaction_resolutions_follow_log_on_{name}
        AFTER {event} ON interaction_resolutions
        WHEN NOT EXISTS (SELECT 1 FROM resolution_events
                          WHERE originator_id = NEW.instance_id AND originator_version = 1
                            AND topic IN ('won', 'adopted')
                            AND substr(state, 5, 59) = CAST(NEW.response_id AS BLOB))
        BEGIN SELECT RAISE(ABORT, 'interaction_resolutions follows resolution_events'); END
        """
        for name, event in (("insert", "INSERT"), ("update", "UPDATE"))
    ),
)


def version_of(connection: sqlite3.Connection, target: str) -> int:
    """The schema version of the ledger behind the connection, 0 where there is none.

    Our tables are recognised by columns and indexes, so that comments, quoting and case in
    the stored SQL do not matter, and additions by others (indexes, triggers, views) are fine.

    :raises NotALedger: if tables or other things of these names exist that are not ours.
    :raises SchemaTooNew: if a newer version of this package has migrated the ledger.
    :raises CorruptLedger: if part of the ledger is missing or altered.
    """
    found = _shapes(connection)
    if not found:
        return 0
    # These columns of the meta table stay as they are in every version to come, whatever is
    # added: by them a ledger is known, and its version found.
    columns, _ = found.get(META, ((), frozenset()))
    if columns[: len(_META_COLUMNS)] != _META_COLUMNS:
        names = ", ".join(sorted(found))
        raise NotALedger(target, f"it has something else of the name {names}")
    row = connection.execute("SELECT schema_version FROM resolution_ledger_meta").fetchone()
    version = row[0] if row else None
    if not isinstance(version, int) or version < 1:
        raise CorruptLedger(target, f"schema version {version!r}")
    if version > len(MIGRATIONS):
        raise SchemaTooNew(target, found=version, known=len(MIGRATIONS))
    for name, (columns, indexes) in _shapes_of(version).items():
        if name not in found:
            raise CorruptLedger(target, f"{name} is missing")
        if found[name][0] != columns or not found[name][1] >= indexes:
            raise CorruptLedger(target, f"{name} is altered")
    return version


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Take the schema from ``version`` to the newest. To be called inside a transaction."""
    for number in range(version, len(MIGRATIONS)):
        MIGRATIONS[number](connection)
        connection.execute("UPDATE resolution_ledger_meta SET schema_version = ?", (number + 1,))


Columns = tuple[tuple[object, ...], ...]
Indexes = frozenset[tuple[object, ...]]
Shape = tuple[Columns, Indexes]


@cache
def _shapes_of(version: int) -> dict[str, Shape]:
    """What our tables look like in a version, read off a fresh schema."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for number in range(version):
            MIGRATIONS[number](connection)
        return {name: shape for name, shape in _shapes(connection).items() if name in TABLES}


def _shapes(connection: sqlite3.Connection) -> dict[str, Shape]:
    """Columns and indexes of whatever bears one of our names."""
    rows = connection.execute("SELECT lower(name) FROM sqlite_master")
    names = {name for (name,) in rows if name in _NAMES}
    return {name: (_columns(connection, name), _indexes(connection, name)) for name in names}


def _columns(connection: sqlite3.Connection, table: str) -> Columns:
    return tuple(
        connection.execute(
            'SELECT lower(name), upper(type), "notnull", dflt_value, pk, hidden'
            " FROM pragma_table_xinfo(?) ORDER BY cid",
            (table,),
        )
    )


def _indexes(connection: sqlite3.Connection, table: str) -> Indexes:
    """Each index as: unique, partial, its columns and, where a query names it, its name."""
    return frozenset(
        connection.execute(
            "SELECT CASE origin WHEN 'c' THEN list.name END, list.\"unique\", list.partial,"
            " (SELECT group_concat(lower(info.name)) FROM pragma_index_info(list.name) AS info)"
            " FROM pragma_index_list(?) AS list",
            (table,),
        )
    )
