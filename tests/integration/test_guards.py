"""What the database itself refuses, whoever asks."""

from __future__ import annotations

import sqlite3

import pytest

from inside import OpenLedger, all_rows
from resolution_ledger import (
    Closed,
    IdempotencyKey,
    ResolutionLedger,
    ResolutionRecord,
    Withdrawn,
    Won,
)
from resolution_ledger.domain.events import EVENT_TYPES
from resolution_ledger.domain.records import WINNING
from samples import instance, record, response

WINNER_ROW = "INTO interaction_resolutions VALUES (?, 'ws-1', ?, 'key-9', 0)"

EVENT_ROW = "INTO resolution_events VALUES"
STREAM = instance(1).text

EVENT_CHANGES = {
    "update": "UPDATE resolution_events SET state = x'00'",
    "update of nothing": "UPDATE resolution_events SET sequence = sequence",
    "update or ignore": "UPDATE OR IGNORE resolution_events SET topic = 'lost'",
    "update of one column": "UPDATE resolution_events SET fingerprint = 1 WHERE sequence = 2",
    "update of the hash": "UPDATE resolution_events SET hash = x'00' WHERE sequence = 2",
    "delete": "DELETE FROM resolution_events WHERE sequence = 2",
    "delete all": "DELETE FROM resolution_events",
    "replace by sequence": f"INSERT OR REPLACE {EVENT_ROW} (2, 'a', 7, 'lost', x'00', 0, x'00')",
    "replace by stream and position": (
        f"INSERT OR REPLACE {EVENT_ROW} (9, '{STREAM}', 1, 'won', x'00', 0, x'00')"
    ),
    "REPLACE": f"REPLACE {EVENT_ROW} (9, '{STREAM}', 2, 'lost', x'00', 0, x'00')",
    "update or replace": "UPDATE OR REPLACE resolution_events SET sequence = 1 WHERE sequence = 2",
    "upsert by sequence": (
        f"INSERT {EVENT_ROW} (2, 'a', 7, 'lost', x'00', 0, x'00')"
        " ON CONFLICT (sequence) DO UPDATE SET state = x'00'"
    ),
    "upsert by stream and position": (
        f"INSERT {EVENT_ROW} (9, '{STREAM}', 1, 'won', x'00', 0, x'00')"
        " ON CONFLICT (originator_id, originator_version) DO UPDATE SET state = x'00'"
    ),
    "a second event at a position": (
        f"INSERT {EVENT_ROW} (9, '{STREAM}', 1, 'won', x'00', 0, x'00')"
    ),
    "an event without bytes": f"INSERT {EVENT_ROW} (9, 'a', 1, 'won', NULL, 0, x'00')",
    "an event without a hash": f"INSERT {EVENT_ROW} (9, 'a', 1, 'won', x'00', 0, NULL)",
}


@pytest.mark.parametrize("statement", EVENT_CHANGES.values(), ids=EVENT_CHANGES)
def test_an_event_on_record_is_there_for_good(
    connection: sqlite3.Connection, statement: str
) -> None:
    before = all_rows(connection)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    assert all_rows(connection) == before


@pytest.mark.parametrize("verb", ["INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE"])
@pytest.mark.parametrize(
    ("i", "r"), [(2, 1), (1, 3)], ids=["an instance without event", "another response"]
)
def test_a_winner_row_that_the_log_does_not_bear_out_is_refused(
    connection: sqlite3.Connection, verb: str, i: int, r: int
) -> None:
    connection.execute("DELETE FROM interaction_resolutions")  # nothing that could conflict
    before = all_rows(connection)
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(f"{verb} {WINNER_ROW}", (instance(i).text, response(r).text))
    assert all_rows(connection) == before


@pytest.mark.parametrize(
    "change",
    [
        f"response_id = '{response(2).text}'",
        f"response_id = '{response(3).text}'",
        f"instance_id = '{instance(2).text}'",
        "response_id = ''",
    ],
    ids=["to a loser's", "to a new response", "to another instance", "to nothing"],
)
@pytest.mark.parametrize("verb", ["UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"])
def test_a_winner_row_cannot_be_turned_into_another_win(
    connection: sqlite3.Connection, verb: str, change: str
) -> None:
    before = all_rows(connection)
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(f"{verb} interaction_resolutions SET {change}")
    assert all_rows(connection) == before


def test_a_winner_row_cannot_be_replaced_by_another_win(connection: sqlite3.Connection) -> None:
    before = all_rows(connection)
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(f"REPLACE {WINNER_ROW}", (instance(1).text, response(2).text))
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(
            f"INSERT {WINNER_ROW} ON CONFLICT DO UPDATE SET response_id = excluded.response_id",
            (instance(1).text, response(2).text),
        )
    assert all_rows(connection) == before


@pytest.mark.parametrize("workspace", ["ws-1", response(2).text], ids=["short", "like an id"])
def test_a_response_that_only_occurs_elsewhere_in_the_event_has_not_won(
    connection: sqlite3.Connection, open_ledger: OpenLedger, workspace: str
) -> None:
    won = ResolutionRecord(
        instance(2), response(1), IdempotencyKey(response(3).text), response(4).text
    )
    assert open_ledger(workspace=workspace).resolve(won) == Won()
    before = all_rows(connection)
    for r in (2, 3, 4):
        with pytest.raises(sqlite3.IntegrityError, match="follows"):
            connection.execute(
                "UPDATE interaction_resolutions SET response_id = ? WHERE instance_id = ?",
                (response(r).text, instance(2).text),
            )
    assert all_rows(connection) == before


NO_WINS = sorted(EVENT_TYPES.keys() - WINNING)

FIRST_EVENT = """
    INSERT INTO resolution_events
    SELECT 9, ?, 1, ?, state, 0, x'00' FROM resolution_events WHERE sequence = 1
"""


@pytest.mark.parametrize("tag", [*NO_WINS, "claimed", "Won", ""])
def test_an_event_at_position_1_that_is_no_win_bears_out_no_winner_row(
    connection: sqlite3.Connection, tag: str
) -> None:
    connection.execute(FIRST_EVENT, (instance(2).text, tag))
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(f"INSERT {WINNER_ROW}", (instance(2).text, response(1).text))


@pytest.mark.parametrize("r", [1, 2], ids=["one that came too late", "a new one"])
def test_a_closing_bears_out_no_winner_row(
    connection: sqlite3.Connection, ledger: ResolutionLedger, r: int
) -> None:
    assert ledger.withdraw(instance(2), "expired") == Withdrawn()
    assert ledger.resolve(record(2, 1, 1)) == Closed("expired")
    before = all_rows(connection)
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(f"INSERT {WINNER_ROW}", (instance(2).text, response(r).text))
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        OlderProgram(connection).resolve(2, r)
    assert all_rows(connection) == before
    assert ledger.winner(instance(2)) is None


@pytest.mark.parametrize("tag", ["won", "adopted"])
def test_a_win_bears_out_the_row_of_its_own_response_alone(
    connection: sqlite3.Connection, tag: str
) -> None:
    connection.execute(FIRST_EVENT, (instance(2).text, tag))
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(f"INSERT {WINNER_ROW}", (instance(2).text, response(2).text))
    connection.execute(f"INSERT {WINNER_ROW}", (instance(2).text, response(1).text))
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        connection.execute(
            "UPDATE interaction_resolutions SET response_id = ? WHERE instance_id = ?",
            (response(2).text, instance(2).text),
        )


class OlderProgram:
    """What decided before: the first row inserted into the table of winners."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def resolve(self, i: int, r: int) -> str | None:
        """None if it believes that it has won, else the response that it is told of."""
        inserted = self._connection.execute(
            f"INSERT {WINNER_ROW} ON CONFLICT DO NOTHING", (instance(i).text, response(r).text)
        )
        if inserted.rowcount == 1:
            return None
        ((winner,),) = self._connection.execute(
            "SELECT response_id FROM interaction_resolutions WHERE instance_id = ?",
            (instance(i).text,),
        )
        return str(winner)


def test_an_older_program_cannot_win_an_instance(
    connection: sqlite3.Connection, ledger: ResolutionLedger
) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        OlderProgram(connection).resolve(2, 1)
    assert ledger.resolve(record(2, 2, 2)) == Won()


@pytest.mark.parametrize("r", [1, 2, 3], ids=["the winner's", "a loser's", "a new one"])
def test_an_older_program_is_told_who_has_won(connection: sqlite3.Connection, r: int) -> None:
    assert OlderProgram(connection).resolve(1, r) == response(1).text
