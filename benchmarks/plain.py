"""The least that can decide: a compare-and-swap of one row, with nothing on record beside it.

It knows no history, no replays under other keys, no fence, no second thread and no errors but
SQLite's own. It is the floor: what the database itself takes for a commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from time import time_ns
from typing import NamedTuple

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionRecord,  # (mypy does not find an editable installation)
)

from .contender import PATIENCE, Contender, Kind
from .measurements import Durability
from .submissions import WORKSPACE

PLAIN = "plain"

_CREATE = """
    CREATE TABLE IF NOT EXISTS interaction_resolutions (
        instance_id TEXT PRIMARY KEY,
        workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        resolved_tick INTEGER NOT NULL
    )
"""
_BATCH = 50_000
_CLAIM = "INSERT INTO interaction_resolutions VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_ROW = """
    SELECT workspace_key, response_id, idempotency_key
      FROM interaction_resolutions WHERE instance_id = ?
"""
_WINNER = "SELECT response_id FROM interaction_resolutions WHERE instance_id = ?"


class Submission(NamedTuple):
    """A record as text, in the order of the table's columns."""

    instance: str
    workspace: str
    response: str
    key: str


class Answer(NamedTuple):
    """What came of a submission: whether it was inserted, and the row that is there."""

    won: bool
    own: bool
    winner: str


class OneRow:
    """A compare-and-swap on one reused connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def resolve(self, submission: Submission) -> Answer:
        """Insert the row unless one is there, and say which one is."""
        execute = self._execute
        execute("BEGIN IMMEDIATE")
        try:
            inserted = execute(_CLAIM, (*submission, time_ns())).rowcount
            row = execute(_ROW, (submission.instance,)).fetchone()
            execute("COMMIT")
        except BaseException:
            execute("ROLLBACK")
            raise
        return Answer(inserted == 1, row == submission[1:], row[1])

    def winner(self, instance: str) -> str | None:
        """The response in the row."""
        row = self._execute(_WINNER, (instance,)).fetchone()
        return None if row is None else str(row[0])


def connect(path: Path, durability: Durability) -> sqlite3.Connection:
    """A connection to a table that is there."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE)
    connection.execute(f"PRAGMA synchronous = {durability}")
    return connection


@contextmanager
def open_plain(path: Path, durability: Durability) -> Iterator[Contender]:
    """The table in the file at ``path``."""
    with closing(connect(path, durability)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(_CREATE)
        one_row = OneRow(connection)
        yield Contender(
            name=PLAIN,
            submission=submission,
            instance=lambda record: record.instance.text,
            resolve=one_row.resolve,
            winner=one_row.winner,
            outcome=lambda answer: "won" if answer.won else "replayed" if answer.own else "lost",
        )


def submission(record: ResolutionRecord) -> Submission:
    """The form that the table takes."""
    return Submission(
        record.instance.text, WORKSPACE, record.response.text, record.idempotency_key.text
    )


def fill(path: Path, records: Iterable[ResolutionRecord]) -> None:
    """Have the table hold a win for each of the records, in large transactions."""
    with open_plain(path, "normal"), closing(connect(path, "normal")) as connection:
        wins = iter(records)
        while batch := [(*submission(record), time_ns()) for record in islice(wins, _BATCH)]:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_CLAIM, batch)
            connection.execute("COMMIT")


PLAIN_KIND = Kind(PLAIN, open_plain, shared=False, most=40_000)
