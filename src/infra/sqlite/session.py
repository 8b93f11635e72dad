"""The statements of a session, on one SQLite connection."""

from __future__ import annotations

import sqlite3
from operator import itemgetter
from typing import cast

from msgspec.structs import astuple

from ...domain.errors import CorruptLedger, SchemaTooNew
from ...projections.losing_attempts import LosingAttemptRow
from ...projections.winners import WinnerRow
from ..database import NewRow, StoredRow
from . import statements
from .schema import MIGRATIONS

_POSITION = itemgetter(2)


class SQLiteSession:
    """What :class:`..database.Session` promises."""

    __slots__ = ("_execute", "_target", "connection")

    def __init__(self, connection: sqlite3.Connection, target: str) -> None:
        self.connection = connection
        self._execute = connection.execute
        self._target = target

    def head_and_first(self, stream: str) -> tuple[int, StoredRow | None]:
        row = self._execute(statements.HEAD_AND_FIRST, (stream,)).fetchone()
        if row is None:
            raise CorruptLedger(self._target, "resolution_ledger_meta is empty")
        version, head, *first = row
        if version != len(MIGRATIONS):
            # Checked with every look at the log: a process with old code stops here.
            if isinstance(version, int) and version > len(MIGRATIONS):
                raise SchemaTooNew(self._target, found=version, known=len(MIGRATIONS))
            raise CorruptLedger(self._target, f"schema version {version!r}")
        return head or 0, None if first[0] is None else cast(StoredRow, tuple(first))

    def last_position(self, stream: str) -> int:
        (position,) = self._execute(statements.LAST_POSITION, (stream,)).fetchone()
        if not isinstance(position, int):
            raise CorruptLedger(self._target, f"{stream} has position {position!r}")
        return position

    def head(self) -> int:
        """The greatest sequence of the log, 0 if it is empty."""
        (head,) = self._execute(statements.HEAD).fetchone()
        return head or 0

    def events_by_fingerprint(self, stream: str, fingerprints: tuple[int, int]) -> list[StoredRow]:
        by_key, by_submission = fingerprints
        rows: list[StoredRow] = self._execute(
            statements.EVENTS_BY_FINGERPRINT, (by_key, stream, by_submission, stream)
        ).fetchall()
        rows.sort(key=_POSITION)  # two or three rows: a sort in SQL takes a temporary table
        return rows

    def stream_events(self, stream: str) -> list[StoredRow]:
        return self._execute(statements.STREAM_EVENTS, (stream,)).fetchall()

    def losing_attempts(self, workspace: str, limit: int) -> list[LosingAttemptRow]:
        rows = self._execute(statements.LOSING_ATTEMPTS, (workspace, limit))
        return [LosingAttemptRow(*row) for row in rows]

    def append_event(self, row: NewRow) -> None:
        self._execute(statements.APPEND_EVENT, row)

    def add_winner(self, row: WinnerRow) -> None:
        self._execute(statements.ADD_WINNER, astuple(row))

    def add_losing_attempt(self, row: LosingAttemptRow) -> None:
        self._execute(statements.ADD_LOSING_ATTEMPT, astuple(row))
