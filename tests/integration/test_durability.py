"""What an acknowledged answer survives: settings of the connections, and how they write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from answers import answer
from inside import OpenLedger, kept_connections, own_connection
from resolution_ledger import ResolutionLedger
from samples import instance, record
from submissions import Closing, Submission

SYNCHRONOUS = {"full": 2, "normal": 1}
"""As ``PRAGMA synchronous`` numbers them."""


def setting(connection: sqlite3.Connection, name: str) -> object:
    """What a pragma says."""
    ((value,),) = connection.execute(f"PRAGMA {name}")
    return value


@pytest.mark.parametrize(("durability", "synchronous"), SYNCHRONOUS.items())
@pytest.mark.parametrize("created", [True, False], ids=["that made the file", "that found it"])
def test_a_connection_syncs_as_chosen(
    open_ledger: OpenLedger, *, durability: str, synchronous: int, created: bool
) -> None:
    if not created:
        with open_ledger() as first:
            first.resolve(record(0, 1, 1))
    ledger = open_ledger(durability=durability)
    ledger.resolve(record(1, 1, 1))
    with own_connection(ledger) as connection:
        assert setting(connection, "synchronous") == synchronous
        assert setting(connection, "journal_mode") == "wal"
        assert setting(connection, "mmap_size") == 0


def test_a_ledger_survives_power_cuts_unless_told_otherwise(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    with own_connection(ledger) as connection:
        assert setting(connection, "synchronous") == SYNCHRONOUS["full"]


@pytest.mark.parametrize("first_call", ["resolve", "winner"])
def test_a_ledger_that_was_restored_without_wal_is_put_back_into_it(
    open_ledger: OpenLedger, path: Path, first_call: str
) -> None:
    with open_ledger() as ledger:
        ledger.resolve(record(1, 1, 1))
    with closing(sqlite3.connect(path)) as connection:
        assert setting(connection, "journal_mode = DELETE") == "delete"
    ledger = open_ledger()
    if first_call == "winner":
        ledger.winner(instance(1))
    ledger.resolve(record(2, 1, 1))
    with own_connection(ledger) as connection:
        assert setting(connection, "journal_mode") == "wal"


def traced(ledger: ResolutionLedger, call: Callable[[], object]) -> list[str]:
    """The statements that a call runs on the ledger's connections, without their values."""
    ran: list[str] = []
    for link in kept_connections(ledger):
        link.connection.set_trace_callback(ran.append)
    call()
    for link in kept_connections(ledger):
        link.connection.set_trace_callback(None)
    return [statement.strip().split("(")[0].strip() for statement in ran]


@pytest.mark.parametrize(
    ("submission", "table"),
    [
        (record(4, 1, 1), "interaction_resolutions"),
        (record(1, 1, 2), "losing_attempts"),
        (record(1, 2, 2), "losing_attempts"),
        (record(1, 2, 1), "losing_attempts"),
        (Closing(instance(3), "expired"), "closed_instances"),
        (Closing(instance(1), "expired"), "resolution_events"),
        (Closing(instance(2), "withdrawn"), "resolution_events"),
        (record(2, 1, 1), "losing_attempts"),
    ],
    ids=[
        "won",
        "replayed",
        "lost",
        "conflicted",
        "closed",
        "withdrawal lost",
        "withdrawal late",
        "late",
    ],
)
def test_an_attempt_or_withdrawal_is_one_immediate_transaction(
    ledger: ResolutionLedger, submission: Submission, table: str
) -> None:
    ledger.resolve(record(1, 1, 1))
    ledger.withdraw(instance(2), "expired")
    ran = traced(ledger, lambda: answer(ledger, submission))
    begin = ran.index("BEGIN IMMEDIATE")
    assert [word for word in ran if word.startswith("BEGIN")] == ["BEGIN IMMEDIATE"]
    assert ran[-1] == "COMMIT"
    writes = [n for n, statement in enumerate(ran) if statement.startswith("INSERT")]
    assert [ran[n].split()[-1] for n in writes[:1]] == ["resolution_events"]
    assert ran[writes[-1]].split()[-1] == table
    assert begin < writes[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda ledger: ledger.winner(instance(1)),
        lambda ledger: ledger.history(instance(1)),
        lambda ledger: ledger.losers(),
        lambda ledger: ledger.wait(instance(1)),
        lambda ledger: ledger.wait(instance(2), 0),
    ],
    ids=["winner", "history", "losers", "wait", "wait in vain"],
)
def test_what_only_reads_takes_no_lock(
    ledger: ResolutionLedger, call: Callable[[ResolutionLedger], object]
) -> None:
    ledger.resolve(record(1, 1, 1))
    call(ledger)  # so that there is a connection to trace
    ran = traced(ledger, lambda: call(ledger))
    assert ran
    assert all(statement.startswith("SELECT") for statement in ran)
