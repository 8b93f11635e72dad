"""The tables, their guards, and how they come to be.

Each migration takes the schema one version on, and a fresh ledger is made by running them
all: so a fresh schema and a migrated one are the same.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable

EVENTS, META = "resolution_events", "resolution_ledger_meta"
TABLES = (EVENTS, META, "interaction_resolutions", "losing_attempts", "closed_instances")
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


def _closings(connection: sqlite3.Connection) -> None:
    """Version 2: an instance may be closed without an answer."""
    connection.execute(
        """
        CREATE TABLE closed_instances (
            instance_id TEXT PRIMARY KEY NOT NULL,
            workspace_key TEXT NOT NULL,
            reason TEXT NOT NULL,
            submitted_by TEXT NOT NULL,
            closed_tick INTEGER NOT NULL
        ) WITHOUT ROWID
        """
    )
    # For verify and rebuild: what closed_instances should hold, without a walk through all wins.
    connection.execute(
        """
        CREATE INDEX resolution_events_closing
            ON resolution_events (originator_id) WHERE topic = 'closed'
        """
    )


MIGRATIONS: tuple[Migration, ...] = (_create, _closings)
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
    # First events are found by their position and need no entry here.
    """
    CREATE INDEX resolution_events_by_fingerprint
        ON resolution_events (fingerprint) WHERE originator_version > 1
    """,
    # It is there already where the winners of an older program are adopted.
    """
    CREATE TABLE IF NOT EXISTS interaction_resolutions (
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


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Take the schema from ``version`` to the newest. To be called inside a transaction."""
    for number in range(version, len(MIGRATIONS)):
        MIGRATIONS[number](connection)
        connection.execute("UPDATE resolution_ledger_meta SET schema_version = ?", (number + 1,))
