"""How SQLite reads the pages of an operator: along a key, from where the last one ended."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

import pytest

from inside import OpenLedger
from resolution_ledger.infra.sqlite import operator_statements as sql
from resolution_ledger.projections.read_models import READ_MODELS, ReadModel
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

OF_EVERYTHING = {
    "WINNERS_BY_TICK": ["SCAN interaction_resolutions", "USE TEMP B-TREE FOR ORDER BY"],
    "CONTESTED": [
        "SCAN losing",
        "SEARCH winner USING PRIMARY KEY (instance_id=?) LEFT-JOIN",
        "USE TEMP B-TREE FOR GROUP BY",
        "USE TEMP B-TREE FOR count(DISTINCT)",
        "USE TEMP B-TREE FOR ORDER BY",
    ],
}
"""For an operator, once: all rows are read, each a single time, and sorted."""


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


@pytest.mark.parametrize("name", OF_EVERYTHING)
def test_what_is_asked_of_all_rows_reads_them_once(
    plan: Callable[[str], list[str]], name: str
) -> None:
    assert {*plan(getattr(sql, name))} <= {*OF_EVERYTHING[name]}


def test_the_plan_of_every_statement_is_looked_at() -> None:
    names = {name for name in vars(sql) if name.isupper() or name == "first_events"}
    assert names == {*LOOK_UPS, *OF_EVERYTHING, "STREAMS_FROM_THE_BEGINNING", "EVENTS"} - {
        "first_events, damaged",
        "first_events, closing",
    }


@pytest.mark.parametrize("model", READ_MODELS, ids=lambda model: model.table)
def test_a_page_of_a_read_model_goes_on_along_its_key(
    plan: Callable[[str], list[str]], model: ReadModel
) -> None:
    key, columns = model.columns[0], ", ".join(model.columns)
    rows = f"SELECT {columns} FROM {model.table}"  # noqa: S608
    (step,) = plan(f"{rows} WHERE {key} > ? ORDER BY 1 LIMIT ?")
    assert re.fullmatch(rf"SEARCH {model.table} USING (INTEGER )?PRIMARY KEY \(\w+>\?\)", step)
    for statement in (rows, f"DELETE FROM {model.table}"):  # noqa: S608
        (step,) = plan(f"{statement} WHERE {key} IS ?")
        assert re.fullmatch(rf"SEARCH {model.table} USING (INTEGER )?PRIMARY KEY \(\w+=\?\)", step)
