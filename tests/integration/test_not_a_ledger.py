"""What is at the path is something else: it is named, and left as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from inside import files_in
from resolution_ledger import NotALedger, ResolutionLedger
from resolution_ledger.infra.sqlite.schema import TABLES
from samples import instance, record

CALLS: dict[str, Callable[[ResolutionLedger], object]] = {
    "resolve": lambda ledger: ledger.resolve(record(1, 1, 1)),
    "withdraw": lambda ledger: ledger.withdraw(instance(1), "expired"),
    "create": lambda ledger: ledger.create(),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
}

each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)

NO_DATABASES = {
    "two bytes": b"xy",  # a single one is an empty database to SQLite
    "a line": b"not a database\n",
    "almost a header": b"SQLite format 3",
    "a header of zeros": bytes(100),
    "text": b"all work and no play " * 1000,
    "a header and garbage": b"SQLite format 3\0" + b"\xa5" * 5000,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(4096),
}


@each_call
@pytest.mark.parametrize("content", NO_DATABASES.values(), ids=NO_DATABASES)
def test_a_file_that_is_no_database_is_left_as_it_is(
    ledger: ResolutionLedger,
    path: Path,
    tmp_path: Path,
    content: bytes,
    call: Callable[[ResolutionLedger], object],
) -> None:
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(NotALedger):
            call(ledger)
    ledger.close()
    assert files_in(tmp_path) == {path.name: content}


OF_OUR_NAMES = {
    **{f"table {name}": f"CREATE TABLE {name} (what TEXT)" for name in TABLES},
    **{f"view {name}": f"CREATE VIEW {name} AS SELECT 1 AS what" for name in TABLES},
    "table in capitals": "CREATE TABLE RESOLUTION_EVENTS (what TEXT)",
    "an index": "CREATE TABLE theirs (x); CREATE INDEX interaction_resolutions ON theirs (x)",
    "an index of an index's name": """
        CREATE TABLE theirs (x);
        CREATE INDEX losing_attempts_newest ON theirs (x)
    """,
    "another index of an index's name": """
        CREATE TABLE theirs (x);
        CREATE INDEX resolution_events_closing ON theirs (x)
    """,
    "tables of another shape": """
        CREATE TABLE resolution_ledger_meta (id INTEGER PRIMARY KEY, schema_version INTEGER);
        CREATE TABLE resolution_events (sequence INTEGER PRIMARY KEY);
        INSERT INTO resolution_ledger_meta VALUES (1, 1)
    """,
}


@each_call
@pytest.mark.parametrize("script", OF_OUR_NAMES.values(), ids=OF_OUR_NAMES)
def test_tables_of_our_names_that_are_not_ours_are_not_adopted(
    ledger: ResolutionLedger,
    path: Path,
    tmp_path: Path,
    script: str,
    call: Callable[[ResolutionLedger], object],
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    before = files_in(tmp_path)
    with pytest.raises(NotALedger, match="something else"):
        call(ledger)
    ledger.close()
    assert files_in(tmp_path) == before
