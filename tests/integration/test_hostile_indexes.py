"""Indexes that do not hold what their tables hold: found, made right, and never believed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from inside import OpenLedger, all_rows, definitions
from integration.altering import (
    CLOSED,
    CONTESTED,
    WINNERS,
    arbiter_blind,
    empty_index,
    hide_from_arbiter,
    make_contested,
)
from integration.tampering import tamper
from resolution_ledger import CorruptLedger, LedgerAdmin, Lost, Progress
from samples import instance, record, response

Opened = tuple[LedgerAdmin, sqlite3.Connection]
"""A ledger, and a connection for damage."""


@pytest.fixture
def contested(path: Path) -> Iterator[Opened]:
    """Each of six instances is won by response 0 and lost by responses 1 and 2."""
    make_contested(path)
    connection = tamper(path)
    with LedgerAdmin.open(path) as admin:
        yield admin, connection
    connection.close()


def kinds(admin: LedgerAdmin) -> set[str]:
    """What kinds of findings a ledger has; that verify ends is part of every test of these."""
    calls = count()

    def step(_: Progress) -> None:
        assert next(calls) < 1000, "it goes round in circles"

    return {str(finding.kind) for finding in admin.verify(progress=step).findings}


def damage_fingerprints(connection: sqlite3.Connection) -> None:
    empty_index(connection, "resolution_events_by_fingerprint", "AND fingerprint IS NULL")


def damage_newest(connection: sqlite3.Connection) -> None:
    empty_index(connection, "losing_attempts_newest", "AND sequence < 0")


def damage_closings(connection: sqlite3.Connection) -> None:
    empty_index(connection, "resolution_events_closing", "AND fingerprint IS NULL")


def damage_arbiter(connection: sqlite3.Connection) -> None:
    hide_from_arbiter(connection, instance(0).text)


def damage_foreign(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE INDEX theirs ON resolution_events (originator_id, originator_version, topic, state)"
    )
    empty_index(connection, "theirs", "WHERE sequence > 1000000")


def damage_foreign_of_winners(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE INDEX theirs ON interaction_resolutions (response_id)")
    empty_index(connection, "theirs", "WHERE resolved_tick < 0")


def damage_foreign_of_losers(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE UNIQUE INDEX theirs ON losing_attempts (sequence, outcome)")
    empty_index(connection, "theirs", "WHERE sequence < 0")


DAMAGES = {
    "the arbiter": damage_arbiter,
    "the one of fingerprints": damage_fingerprints,
    "the one of the newest losers": damage_newest,
    "the one of closings": damage_closings,
    "another program's, of the log": damage_foreign,
    "another program's, of winners": damage_foreign_of_winners,
    "another program's, of losers": damage_foreign_of_losers,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_index_that_holds_too_little_is_found_and_made_right(
    contested: Opened, damage: object
) -> None:
    """Its text is what it should be. No row of any table is touched."""
    admin, connection = contested
    assert callable(damage)
    before = all_rows(connection)
    damage(connection)
    schema = definitions(connection)
    assert "storage" in kinds(admin)
    assert {finding.kind for finding in admin.rebuild().findings} == {"storage"}
    assert kinds(admin) == set()
    assert all_rows(connection) == before
    assert definitions(connection) == schema
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert admin.rebuild().clean


@pytest.mark.parametrize("row", ["there", "gone"])
def test_a_win_that_the_arbiter_does_not_hold_stays_the_win(
    contested: Opened, open_ledger: OpenLedger, row: str
) -> None:
    """Whether or not the winner's row has gone as well."""
    admin, connection = contested
    before = all_rows(connection)[WINNERS]
    damage_arbiter(connection)
    if row == "gone":
        connection.execute(
            "DELETE FROM interaction_resolutions WHERE instance_id = ?", (instance(0).text,)
        )
    assert "storage" in kinds(admin)
    assert {finding.kind for finding in admin.rebuild().findings} == (
        {"storage"} if row == "there" else {"storage", "winner"}
    )
    assert all_rows(connection)[WINNERS] == before
    ledger = open_ledger()
    assert ledger.winner(instance(0)) == response(0)
    assert ledger.resolve(record(0, 5, 5)) == Lost(response(0))
    assert kinds(admin) == set()


@pytest.mark.parametrize("row", ["there", "gone"])
def test_a_closing_that_its_index_does_not_hold_stays_one(contested: Opened, row: str) -> None:
    """Whether or not its row has gone as well."""
    admin, connection = contested
    before = all_rows(connection)[CLOSED]
    damage_closings(connection)
    if row == "gone":
        connection.execute("DELETE FROM closed_instances")
    assert {finding.kind for finding in admin.rebuild().findings} == (
        {"storage"} if row == "there" else {"storage", "closed instance"}
    )
    assert all_rows(connection)[CLOSED] == before != []
    assert kinds(admin) == set()


def test_a_retransmission_is_found_again_by_its_fingerprint(
    contested: Opened, open_ledger: OpenLedger
) -> None:
    """So that it leaves no further event."""
    admin, connection = contested
    ledger = open_ledger()
    before = ledger.history(instance(0))
    damage_fingerprints(connection)
    admin.rebuild()
    for _ in range(3):
        assert ledger.resolve(record(0, 1, 1)) == Lost(response(0))
    assert ledger.history(instance(0)) == before


def test_the_losers_are_told_again(contested: Opened, open_ledger: OpenLedger) -> None:
    """All of them, where the index had none."""
    admin, connection = contested
    ledger = open_ledger()
    before = ledger.losers()
    damage_newest(connection)
    assert ledger.losers() != before
    admin.rebuild()
    assert ledger.losers() == before


def double_an_event(connection: sqlite3.Connection, position: int) -> None:
    """Put a second event at a position of instance 0, of which the arbiter knows nothing."""
    with arbiter_blind(connection):
        connection.execute(
            "INSERT INTO resolution_events"
            " SELECT ?, originator_id, originator_version, topic, state, fingerprint, hash"
            "   FROM resolution_events WHERE originator_id = ? AND originator_version = ?",
            (CONTESTED + 1, instance(0).text, position),
        )


@pytest.mark.parametrize("position", [1, 2, 3])
def test_where_two_events_have_one_place_nothing_is_removed(
    contested: Opened, position: int
) -> None:
    """Which of them is right, no rebuild can know."""
    admin, connection = contested
    double_an_event(connection, position)
    before = all_rows(connection)
    assert "storage" in kinds(admin)
    for _ in range(2):
        with pytest.raises(CorruptLedger):
            admin.rebuild()
        assert all_rows(connection) == before
    assert "storage" in kinds(admin)


@pytest.mark.parametrize("after", [0, 5, CONTESTED - 1])
def test_where_the_log_has_lost_events_nothing_is_removed(contested: Opened, after: int) -> None:
    """Else the rows of the read models, all that is left of them, would go as well."""
    admin, connection = contested
    with arbiter_blind(connection):
        connection.execute("DELETE FROM resolution_events WHERE sequence > ?", (after,))
    before = all_rows(connection)
    assert "storage" in kinds(admin)
    for _ in range(2):
        with pytest.raises(CorruptLedger, match="has lost events"):
            admin.rebuild()
        assert all_rows(connection) == before
    assert "storage" in kinds(admin)


@pytest.mark.parametrize("last", ["zzz", "aaa"])
def test_verify_ends_where_an_index_leads_round_in_a_circle(contested: Opened, last: str) -> None:
    """The event that is last by the arbiter says in the log that it belongs before all others."""
    admin, connection = contested
    ((sequence,),) = connection.execute(
        "SELECT sequence FROM resolution_events"
        " ORDER BY originator_id DESC, originator_version DESC LIMIT 1"
    ).fetchall()
    with arbiter_blind(connection):
        connection.execute(
            "UPDATE resolution_events SET originator_id = ? WHERE sequence = ?", (last, sequence)
        )
    assert "storage" in kinds(admin)
