"""What the guards look up when a row is written: by a key each time, however much is on record."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

import pytest

from inside import OpenLedger, own_connection
from integration.instructions import instructions_of
from resolution_ledger import ResolutionLedger
from samples import record

GUARDS = {
    "resolution_events_refuse_replace": 2,
    "interaction_resolutions_follow_log_on_insert": 1,
    "interaction_resolutions_follow_log_on_update": 1,
}
"""How many look-ups each takes."""


@pytest.fixture(params=["without statistics", "with statistics"])
def connection(
    request: pytest.FixtureRequest,
    open_ledger: OpenLedger,
    foreign: Callable[[], sqlite3.Connection],
) -> sqlite3.Connection:
    """A connection to a ledger with many streams, of which one is long."""
    with open_ledger(durability="normal") as ledger:
        for n in range(200):
            ledger.resolve(record(n % 100, n, n))
            ledger.resolve(record(0, 1000 + n, 1000 + n))
    connection = foreign()
    if request.param == "with statistics":
        connection.execute("ANALYZE")
    return connection


def look_up(connection: sqlite3.Connection, guard: str) -> str:
    """What a guard asks, as a statement of its own."""
    ((text,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (guard,))
    found = re.search(r"WHEN (?:NOT )?EXISTS \((SELECT .*)\)\s+BEGIN", text, re.DOTALL)
    assert found
    return re.sub(r"NEW\.\w+", "?", found[1])


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_looks_up_by_a_key(connection: sqlite3.Connection, guard: str) -> None:
    statement = look_up(connection, guard)
    values = ["x"] * statement.count("?")
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    steps = [str(row[-1]) for row in rows]
    searches = [step for step in steps if step.startswith("SEARCH resolution_events USING ")]
    assert len(searches) == GUARDS[guard]
    assert all("=?" in step for step in searches)
    assert not [step for step in steps if "SCAN" in step or "B-TREE" in step]
    if GUARDS[guard] == 1:  # by stream and position: not through a long stream
        assert searches[0].endswith("(originator_id=? AND originator_version=?)")


def test_every_guard_that_looks_anything_up_is_looked_at(connection: sqlite3.Connection) -> None:
    guards = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%EXISTS%'"
    )
    assert {name for (name,) in guards} == {*GUARDS}


def test_a_win_costs_the_same_however_much_is_on_record(ledger: ResolutionLedger) -> None:
    """The guards' part included."""
    costs = []
    for size in (10, 300):
        for n in range(size):
            ledger.resolve(record(1000 * size + n, 1, 1))
            ledger.resolve(record(1, n + size, n + size))
        with own_connection(ledger) as own, instructions_of(own) as taken:
            ledger.resolve(record(10 + size, 1, 1))
        costs.append(len(taken))
    assert 0 < costs[1] < 1.5 * costs[0]
