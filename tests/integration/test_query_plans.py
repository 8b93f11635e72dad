"""The cost of a statement does not depend on how much is on record: it never scans."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

from inside import OpenLedger, own_connection
from integration.instructions import instructions_of
from resolution_ledger import (
    IdempotencyConflict,
    OutsideWorkspace,
    ResolutionLedger,
    ResolutionRecord,
)
from resolution_ledger.infra.sqlite import statements
from samples import instance, record

STATEMENTS: dict[str, str] = {
    **{name: value for name, value in vars(statements).items() if name.isupper()},
    "winner": statements.winner(2),
    "notifications": statements.notifications(0),
    "notifications of topics": statements.notifications(2),
    "a slice of a stream": statements.stream_slice(descending=False),
    "a slice of a stream, backwards": statements.stream_slice(descending=True),
}


META_SCAN = "SCAN resolution_ledger_meta"

OF_THE_META_TABLE_ALONE = ["SCHEMA_VERSION", "LEDGER_ID"]

FROM_THE_END = {"HEADS": ["SCAN resolution_events"], "HEAD": ["SCAN resolution_events"]}
"""By descending primary key, for one row: it stops there, as is counted below. There is nothing
to look up, and so SQLite calls it a scan."""


@pytest.fixture(params=["without statistics", "with statistics"])
def connection(
    request: pytest.FixtureRequest,
    open_ledger: OpenLedger,
    foreign: Callable[[], sqlite3.Connection],
) -> sqlite3.Connection:
    """A connection to a ledger with one long stream, many short ones and many workspaces."""
    for number in range(3):
        with open_ledger(workspace=f"ws-{number}", durability="normal") as ledger:
            for n in range(50):
                ledger.resolve(record(100 * number + n, 1, 1))
            for n in range(100 if number == 0 else 10):
                ledger.resolve(record(100 * number, n + 2, n + 2))
    connection = foreign()
    if request.param == "with statistics":
        connection.execute("ANALYZE")
    return connection


def plan(connection: sqlite3.Connection, statement: str) -> list[str]:
    """What SQLite says that it would do."""
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", ["x"] * statement.count("?"))
    return [str(row[-1]) for row in rows]


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_looks_up_and_neither_scans_nor_sorts(
    connection: sqlite3.Connection, name: str
) -> None:
    steps = plan(connection, STATEMENTS[name])
    assert not [step for step in steps if "B-TREE" in step]
    # The table of one row may be read from end to end.
    scans = [step for step in steps if step.startswith("SCAN") and step != META_SCAN]
    scans = [step for step in scans if "CONSTANT ROW" not in step]
    assert scans == FROM_THE_END.get(name, [])
    if "SELECT" in STATEMENTS[name] and name not in (*OF_THE_META_TABLE_ALONE, "HEAD"):
        assert [step for step in steps if step.startswith("SEARCH")]


@pytest.mark.parametrize("name", [*FROM_THE_END, *OF_THE_META_TABLE_ALONE])
def test_what_is_called_a_scan_takes_the_same_few_steps_however_much_is_on_record(
    ledger: ResolutionLedger, foreign: Callable[[], sqlite3.Connection], name: str
) -> None:
    statement = STATEMENTS[name]
    values = [instance(1).text] * statement.count("?")
    ledger.resolve(record(1, 1, 1))
    costs = []
    for size in (2, 200):
        for n in range(size):
            ledger.resolve(record(2, n, n))
            ledger.resolve(record(100 + n, 1, 1))
        connection = foreign()
        with instructions_of(connection) as taken:
            assert len(connection.execute(statement, values).fetchall()) == 1
        costs.append(len(taken))
    assert costs[0] == costs[1] > 0


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("EVENTS_THAT_MATTER", "resolution_events_by_fingerprint (fingerprint=?)"),
        ("LOSING_ATTEMPTS", "losing_attempts_newest (workspace_key=?)"),
        ("STREAM_EVENTS", "(originator_id=?)"),
        ("EVENTS_THAT_MATTER", "INTEGER PRIMARY KEY (rowid=?)"),
        ("winner", "interaction_resolutions USING PRIMARY KEY (instance_id=?)"),
        ("HEADS", "(originator_id=?)"),
        ("FIRST_EVENT", "(originator_id=?)"),
        ("notifications", "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    ],
)
def test_a_statement_uses_the_index_that_was_made_for_it(
    connection: sqlite3.Connection, name: str, index: str
) -> None:
    assert any(index in step for step in plan(connection, STATEMENTS[name]))


@pytest.mark.parametrize(
    ("workspace", "keys"),
    [("ws-1", range(1, 2000)), ("ws-1", [0] * 2000), ("ws-2", range(1, 2000))],
    ids=["lost", "conflicted under one key", "fenced"],
)
def test_an_attempt_costs_the_same_however_much_is_on_record(
    open_ledger: OpenLedger, workspace: str, keys: Sequence[int]
) -> None:
    open_ledger(durability="normal").resolve(record(1, 0, 0))
    ledger = open_ledger(workspace=workspace, durability="normal")
    costs = []
    for size in (10, 300):
        for n in range(1, size):
            _attempt(ledger, record(1, n, keys[n]))
            _attempt(ledger, record(100 + n, 1, 1))
        costs.append(_instructions(ledger, record(1, 1000 + size, keys[1000 + size])))
    assert costs[1] < 1.5 * costs[0]


@pytest.mark.parametrize("first", ["won", "closed"])
def test_a_withdrawal_costs_the_same_however_much_is_on_record(
    open_ledger: OpenLedger, first: str
) -> None:
    ledger = open_ledger(durability="normal")
    if first == "won":
        ledger.resolve(record(1, 0, 0))
    else:
        ledger.withdraw(instance(1), "expired")
    costs = []
    for size, reason in ((10, "withdrawn"), (300, "expired")):
        for n in range(1, size):
            _attempt(ledger, record(1, n, n))
            ledger.withdraw(instance(100 + n), "expired")
        with own_connection(ledger) as connection, instructions_of(connection) as taken:
            ledger.withdraw(instance(1), reason)
        costs.append(len(taken))
    assert 0 < costs[1] < 1.5 * costs[0]


def _attempt(ledger: ResolutionLedger, attempt: ResolutionRecord) -> None:
    with suppress(IdempotencyConflict, OutsideWorkspace):
        ledger.resolve(attempt)


def _instructions(ledger: ResolutionLedger, attempt: ResolutionRecord) -> int:
    """How many instructions SQLite's virtual machine runs for an attempt."""
    with own_connection(ledger) as connection, instructions_of(connection) as taken:
        _attempt(ledger, attempt)
    assert taken
    return len(taken)
