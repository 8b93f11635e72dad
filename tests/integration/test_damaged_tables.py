"""Damaged tables: rows that no event bears out, and parts of the ledger that are missing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from inside import OpenLedger, Unguarded
from resolution_ledger import CorruptLedger, NotALedger, ResolutionLedger, Won
from resolution_ledger.infra.sqlite.schema import TABLES
from samples import instance, record, response

Call = Callable[[ResolutionLedger], object]


def test_an_event_without_its_rows_is_not_put_right_in_passing(
    unguarded: Unguarded,
) -> None:
    ledger, connection = unguarded
    connection.execute("DELETE FROM interaction_resolutions")
    connection.execute("DELETE FROM losing_attempts")
    assert ledger.winner(instance(1)) == response(1)
    assert len(ledger.history(instance(1))) == 3
    assert ledger.losers() == ()
    ledger.resolve(record(1, 5, 5))
    assert [loser.response for loser in ledger.losers()] == [response(5)]


def test_a_row_that_is_there_before_its_event_is_corrupt(
    unguarded: Unguarded,
) -> None:
    ledger, connection = unguarded
    connection.execute(
        "INSERT INTO interaction_resolutions VALUES (?, 'ws-1', ?, 'k', 0)",
        (instance(9).text, response(9).text),
    )
    with pytest.raises(CorruptLedger):
        ledger.resolve(record(9, 1, 1))
    assert ledger.history(instance(9)) == ()


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("UPDATE losing_attempts SET instance_id = ? WHERE position = 3", "no id"),
        ("UPDATE losing_attempts SET response_id = ? WHERE position = 3", "no id"),
        ("UPDATE losing_attempts SET response_id = ?", response(1).text.upper()),
        ("UPDATE losing_attempts SET idempotency_key = ? WHERE position = 3", ""),
        ("UPDATE losing_attempts SET outcome = ? WHERE position = 3", "annulled"),
        ("UPDATE losing_attempts SET outcome = ? WHERE position = 3", b"lost"),
        ("UPDATE losing_attempts SET submitted_by = ? WHERE position = 3", b"\xff"),
        ("UPDATE losing_attempts SET submitted_by = ? WHERE position = 3", "x" * 513),
        ("UPDATE losing_attempts SET attempted_tick = ? WHERE position = 3", "noon"),
        ("UPDATE losing_attempts SET position = ? WHERE position = 3", "last"),
    ],
)
def test_losers_are_never_invented_from_a_bad_row(
    unguarded: Unguarded, change: str, value: object
) -> None:
    ledger, connection = unguarded
    connection.execute(change, (value,))
    with pytest.raises(CorruptLedger, match="losing_attempts"):
        ledger.losers()


def test_a_closing_whose_row_is_there_before_it_is_corrupt(unguarded: Unguarded) -> None:
    ledger, connection = unguarded
    connection.execute(
        "INSERT INTO closed_instances VALUES (?, 'ws-1', 'expired', '', 0)", (instance(9).text,)
    )
    with pytest.raises(CorruptLedger):
        ledger.withdraw(instance(9), "expired")
    assert ledger.history(instance(9)) == ()
    assert ledger.resolve(record(9, 1, 1)) == Won()


def test_a_losers_sequence_can_be_nothing_but_a_number(unguarded: Unguarded) -> None:
    ledger, connection = unguarded
    before = ledger.losers()
    for value in ("last", b"3", 3.5):
        with pytest.raises(sqlite3.IntegrityError, match="mismatch"):
            connection.execute("UPDATE losing_attempts SET sequence = ?", (value,))
    assert ledger.losers() == before


PARTS = {
    **{f"table {name}": f"DROP TABLE {name}" for name in TABLES},
    "index of fingerprints": "DROP INDEX resolution_events_by_fingerprint",
    "index of losers": "DROP INDEX losing_attempts_newest",
    "index of closings": "DROP INDEX resolution_events_closing",
    "a column": "ALTER TABLE losing_attempts DROP COLUMN submitted_by",
    "a column's name": "ALTER TABLE resolution_events RENAME COLUMN state TO data",
    "the row of meta": "DELETE FROM resolution_ledger_meta",
}


CALLS: dict[str, Call] = {
    "win": lambda ledger: ledger.resolve(record(9, 1, 1)),
    "lose": lambda ledger: ledger.resolve(record(1, 5, 5)),
    "close": lambda ledger: ledger.withdraw(instance(8), "expired"),
    "withdraw": lambda ledger: ledger.withdraw(instance(1), "expired"),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
}

each_part = pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)


@each_part
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_missing_part_is_named_to_whoever_opens_the_ledger(
    unguarded: Unguarded, open_ledger: OpenLedger, part: str, call: Call
) -> None:
    used, connection = unguarded
    used.close()
    connection.execute(part)
    # Without its meta table it is not known to be a ledger at all.
    expected = NotALedger if part == "DROP TABLE resolution_ledger_meta" else CorruptLedger
    with pytest.raises(expected):
        call(open_ledger())


WRITING = ["win", "lose", "close", "withdraw"]

NEEDED_BY = {
    "table resolution_ledger_meta": [*WRITING, "winner", "history", "losers"],
    "table resolution_events": [*WRITING, "history"],  # the winner has a row of its own
    "table interaction_resolutions": ["win", "winner"],
    "table losing_attempts": ["lose", "losers"],
    "table closed_instances": ["close"],
    "index of fingerprints": ["lose", "withdraw"],
    "index of losers": ["losers"],
    "index of closings": [],
    "a column": ["lose", "losers"],
    "a column's name": [*WRITING, "history"],
    "the row of meta": [*WRITING, "winner", "history", "losers"],
}


@pytest.mark.parametrize("part", PARTS)
def test_a_missing_part_is_named_to_whoever_has_the_ledger_open_and_needs_it(
    unguarded: Unguarded, part: str
) -> None:
    ledger, connection = unguarded
    ledger.winner(instance(1))  # so that it has a connection that reads, too
    connection.execute(PARTS[part])
    assert [name for name, call in CALLS.items() if _is_corrupt(ledger, call)] == NEEDED_BY[part]


def _is_corrupt(ledger: ResolutionLedger, call: Call) -> bool:
    try:
        call(ledger)
    except CorruptLedger:
        return True
    return False


@pytest.mark.parametrize("version", [0, -1, "one", 1.5, b"1"])
def test_a_schema_version_that_is_none_is_corrupt(
    unguarded: Unguarded, open_ledger: OpenLedger, version: object
) -> None:
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_ledger_meta SET schema_version = ?", (version,))
    for door in (ledger, open_ledger()):
        with pytest.raises(CorruptLedger):
            door.resolve(record(9, 1, 1))
