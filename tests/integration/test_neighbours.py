"""What others may do beside the ledger, in the same file."""

from __future__ import annotations

import sqlite3

import pytest

from inside import OpenLedger, Rows, all_rows
from resolution_ledger import Lost, Replayed, ResolutionLedger, Won
from samples import instance, record, response


def test_the_table_of_winners_has_the_five_public_columns(connection: sqlite3.Connection) -> None:
    columns = connection.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?)', ("interaction_resolutions",)
    ).fetchall()
    assert columns == [
        ("instance_id", "TEXT", 1, 1),
        ("workspace_key", "TEXT", 1, 0),
        ("response_id", "TEXT", 1, 0),
        ("idempotency_key", "TEXT", 1, 0),
        ("resolved_tick", "INTEGER", 1, 0),
    ]


def test_vacuum_keeps_every_sequence(
    connection: sqlite3.Connection, ledger: ResolutionLedger
) -> None:
    connection.executescript(
        """
        DROP TRIGGER resolution_events_refuse_delete;
        DELETE FROM resolution_events WHERE sequence = 1;
        """
    )
    before: Rows = all_rows(connection)
    connection.execute("VACUUM")
    assert all_rows(connection) == before
    ledger.resolve(record(2, 1, 1))
    assert ledger.history(instance(2))[0].sequence == 3


ADDITIONS = {
    "a view": (
        "CREATE VIEW theirs AS SELECT instance_id, response_id FROM interaction_resolutions",
        "SELECT count(*) FROM theirs",
    ),
    "a trigger": (
        """
        CREATE TABLE log (what);
        CREATE TRIGGER theirs AFTER INSERT ON interaction_resolutions
        BEGIN INSERT INTO log VALUES (NEW.instance_id); END;
        INSERT INTO log SELECT instance_id FROM interaction_resolutions;
        """,
        "SELECT count(*) FROM log",
    ),
    "a foreign key": (
        "CREATE TABLE acts (instance_id REFERENCES interaction_resolutions ON DELETE CASCADE)",
        "SELECT count(*) FROM interaction_resolutions",
    ),
    "an index": (
        """
        CREATE INDEX theirs ON interaction_resolutions (workspace_key, resolved_tick);
        CREATE INDEX theirs_too ON resolution_events (originator_id, topic);
        CREATE UNIQUE INDEX theirs_also ON losing_attempts (sequence);
        """,
        "SELECT count(*) FROM interaction_resolutions INDEXED BY theirs WHERE workspace_key <> ''",
    ),
    "statistics": ("ANALYZE", "SELECT count(*) FROM interaction_resolutions"),
}


@pytest.mark.parametrize(("addition", "count"), ADDITIONS.values(), ids=ADDITIONS)
def test_what_others_add_to_the_tables_stays_and_disturbs_nothing(
    connection: sqlite3.Connection,
    ledger: ResolutionLedger,
    open_ledger: OpenLedger,
    addition: str,
    count: str,
) -> None:
    connection.executescript(addition)
    for door in (ledger, open_ledger()):
        assert door.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
    assert ledger.resolve(record(2, 1, 1)) == Won()
    assert open_ledger().resolve(record(2, 2, 2)) == Lost(response(1))
    assert [loser.instance for loser in ledger.losers()] == [instance(2), instance(1)]
    assert connection.execute(count).fetchone() == (2,)


def test_the_statements_others_wrote_stay_as_they_are(
    connection: sqlite3.Connection, open_ledger: OpenLedger
) -> None:
    for addition, _ in ADDITIONS.values():
        connection.executescript(addition.replace("theirs", f"theirs_{abs(hash(addition))}"))
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2"
    before = connection.execute(schema).fetchall()
    assert open_ledger().resolve(record(2, 1, 1)) == Won()
    assert connection.execute(schema).fetchall() == before
