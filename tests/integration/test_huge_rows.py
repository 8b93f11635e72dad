"""Tables into which somebody has put more than memory holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from integration.altering import (
    CLOSED,
    EVENTS,
    LOSING,
    make_contested,
    verify_in_memory_of_its_own,
)
from integration.tampering import guards_dropped, tamper
from processes import run_alone

MUCH = 3 * 2**20
ROWS = 200


def fill_losing(connection: sqlite3.Connection) -> None:
    connection.execute(
        "WITH RECURSIVE n(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM n LIMIT ?)"
        "INSERT INTO losing_attempts"
        " SELECT n, 'x', 2, 'lost', 'w', printf('%.*c', ?, 'z'), 'k', '', 1 FROM n",
        (ROWS, MUCH),
    )


def fill_events(connection: sqlite3.Connection) -> None:
    with guards_dropped(connection):
        connection.execute(
            "WITH RECURSIVE n(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM n LIMIT ?)"
            "INSERT INTO resolution_events"
            " SELECT n, 's', n, 'lost', zeroblob(?), 0, zeroblob(32) FROM n",
            (ROWS, MUCH),
        )


def fill_closed(connection: sqlite3.Connection) -> None:
    connection.execute(
        "WITH RECURSIVE n(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM n LIMIT ?)"
        "INSERT INTO closed_instances"
        " SELECT 'x' || n, 'w', 'expired', printf('%.*c', ?, 'z'), 1 FROM n",
        (ROWS, MUCH),
    )


FILLS = {LOSING: fill_losing, CLOSED: fill_closed, EVENTS: fill_events}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
def test_verify_needs_no_more_memory_for_rows_that_are_huge(path: Path, fill: object) -> None:
    """Far less than all of them together."""
    assert callable(fill)
    make_contested(path)
    connection = tamper(path)
    connection.execute("PRAGMA journal_mode = delete")
    connection.execute("PRAGMA journal_mode = off")
    fill(connection)
    connection.close()
    found, peak = run_alone(verify_in_memory_of_its_own, str(path))
    path.unlink()  # there is no need to keep that much
    assert found >= ROWS
    assert peak < 150 * 1024
