"""How SQLite reads the pages of an operator: along a key, from where the last one ended."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from inside import OpenLedger
from resolution_ledger.infra.sqlite import operator_statements as sql
from samples import instance, record

LOOK_UPS = {
    "LOG": sql.LOG,
    "STREAM": sql.STREAM,
    "EVENT": sql.EVENT,
    "STREAMS": sql.STREAMS,
    "first_events": sql.first_events("?"),
    "first_events, damaged": sql.first_events("CAST(? AS TEXT)"),
    "first_events, closing": sql.first_events("?", closing=True),
    "HEAD_SEQUENCE": sql.HEAD_SEQUENCE,
}
STREAMS, CLOSINGS = "sqlite_autoindex_resolution_events_1", "resolution_events_closing"
WALKS = {
    "STREAMS": (sql.STREAMS_FROM_THE_BEGINNING, STREAMS),
    "first_events": (sql.first_events(), STREAMS),
    "first_events, closing": (sql.first_events(closing=True), CLOSINGS),
}


@pytest.fixture(params=["without statistics", "with statistics"])
def plan(
    request: pytest.FixtureRequest,
    open_ledger: OpenLedger,
    foreign: Callable[[], sqlite3.Connection],
) -> Callable[[str], list[str]]:
    """What SQLite says that it would do, on a ledger of several streams."""
    with open_ledger(durability="normal") as ledger:
        for n in range(60):
            ledger.resolve(record(n % 20, n, n))
        for n in range(20, 23):
            ledger.withdraw(instance(n), "expired")
    connection = foreign()
    if request.param == "with statistics":
        connection.execute("ANALYZE")

    def steps(statement: str) -> list[str]:
        values = ["x"] * statement.count("?")
        return [
            str(row[-1]) for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
        ]

    return steps


@pytest.mark.parametrize("name", LOOK_UPS)
def test_a_page_begins_with_a_look_up_and_is_not_sorted(
    plan: Callable[[str], list[str]], name: str
) -> None:
    steps = plan(LOOK_UPS[name])
    assert not [step for step in steps if "B-TREE" in step or step.startswith("SCAN")]
    assert [step for step in steps if step.startswith("SEARCH")]


@pytest.mark.parametrize("name", WALKS)
def test_the_first_page_walks_the_keys_of_the_streams(
    plan: Callable[[str], list[str]], name: str
) -> None:
    """In their order: what a limit leaves out is not read."""
    statement, index = WALKS[name]
    assert plan(statement) == [f"SCAN resolution_events USING INDEX {index}"]
