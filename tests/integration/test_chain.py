"""The hash chain in a file: many append to it, and what is damaged in it is seen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chains import hashes_on_record, unbroken
from inside import OpenLedger, Unguarded
from integration.appenders import append_each
from processes import run_together
from resolution_ledger import CorruptLedger
from resolution_ledger.infra.sqlite.databases import open_database
from samples import instance, record, response

Foreign = Callable[[], sqlite3.Connection]


def test_processes_that_append_at_once_make_one_chain(path: Path, foreign: Foreign) -> None:
    """Two that resolve and two that insert events of their own, two by two."""
    counts = run_together(append_each, [(str(path), n, 50) for n in range(4)])
    assert counts == [50, 100, 50, 100]
    assert unbroken(foreign()) == len(set(hashes_on_record(foreign()))) == 300


TAMPERING = {
    "sequence": "UPDATE resolution_events SET sequence = 9 WHERE sequence = 4",
    "stream": "UPDATE resolution_events SET originator_id = 'other' WHERE sequence = 4",
    "position": "UPDATE resolution_events SET originator_version = 9 WHERE sequence = 4",
    "tag": "UPDATE resolution_events SET topic = 'fenced' WHERE sequence = 4",
    "bytes": "UPDATE resolution_events SET state = x'00' WHERE sequence = 4",
    "hash": "UPDATE resolution_events SET hash = zeroblob(32) WHERE sequence = 4",
}


@pytest.mark.parametrize("tampering", TAMPERING.values(), ids=TAMPERING)
def test_the_chain_shows_where_somebody_changed_the_log(
    unguarded: Unguarded, tampering: str
) -> None:
    """And goes on from there as it is: to find that out is the business of an audit."""
    ledger, connection = unguarded
    ledger.resolve(record(2, 1, 1))
    assert unbroken(connection) == 5
    connection.execute(tampering)
    assert unbroken(connection) == 3
    ledger.resolve(record(3, 1, 1))
    assert unbroken(connection) == 3


def test_a_ledger_that_was_given_another_identity_has_no_chain(unguarded: Unguarded) -> None:
    """Not one of its events was ever an event of that ledger."""
    _, connection = unguarded
    assert unbroken(connection) == 4
    connection.execute("UPDATE resolution_ledger_meta SET ledger_id = 'other'")
    assert unbroken(connection) == 0


@pytest.mark.parametrize("value", [5, 0.5, "x" * 32, b"", b"x" * 31], ids=repr)
def test_nothing_is_appended_to_what_has_no_hash(unguarded: Unguarded, value: object) -> None:
    """The event is named, and all that is on record can still be read."""
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_events SET hash = ? WHERE sequence = 4", (value,))
    for attempt in (record(9, 1, 1), record(1, 5, 5)):
        with pytest.raises(CorruptLedger, match="hash") as error:
            ledger.resolve(attempt)
        assert error.value.sequence == 4
    assert ledger.winner(instance(1)) == response(1)
    assert len(ledger.history(instance(1))) == 3
    assert ledger.history(instance(9)) == ()


def test_no_log_begins_without_an_identity(
    path: Path, open_ledger: OpenLedger, foreign: Foreign
) -> None:
    with closing(open_database(str(path), durability="full", lock_timeout=1)) as database:
        database.write(lambda _: None)  # a ledger with no event
    foreign().execute("UPDATE resolution_ledger_meta SET ledger_id = x'ab'")
    with pytest.raises(CorruptLedger, match="identity"):
        open_ledger().resolve(record(1, 1, 1))
