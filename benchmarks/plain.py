"""The least that can decide: a compare-and-swap of one row, with nothing on record beside it.

It knows no history, no replays under other keys, no fence, no second thread and no errors but
SQLite's own. It is the floor: what the database itself takes for a commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import time_ns
from typing import NamedTuple

from .contender import Contender
from .measurements import Durability
from .submissions import WORKSPACE

PLAIN = "plain"

CREATE = """
    CREATE TABLE interaction_resolutions (
        instance_id TEXT PRIMARY KEY,
        workspace_key TEXT NOT NULL,
        response_id TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        resolved_tick INTEGER NOT NULL
    )
"""
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


@contextmanager
def open_plain(directory: Path, durability: Durability) -> Iterator[Contender]:
    """A fresh table in ``directory``."""
    path = directory / "plain.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {durability}")
        connection.execute(CREATE)
        one_row = OneRow(connection)
        yield Contender(
            name=PLAIN,
            submission=lambda record: Submission(
                record.instance.text,
                WORKSPACE,
                record.response.text,
                record.idempotency_key.text,
            ),
            instance=lambda record: record.instance.text,
            resolve=one_row.resolve,
            winner=one_row.winner,
            outcome=lambda answer: "won" if answer.won else "replayed" if answer.own else "lost",
        )
