"""The statements of a session, on one SQLite connection."""

from __future__ import annotations

import sqlite3
from typing import cast

from msgspec.structs import astuple

from ...domain.errors import CorruptLedger, SchemaTooNew
from ...projections.losing_attempts import LosingAttemptRow
from ...projections.winners import WinnerRow
from ..database import Heads, NewRow, StoredRow
from . import statements
from .schema import MIGRATIONS


class SQLiteSession:
    """What :class:`..database.Session` promises."""

    __slots__ = ("_execute", "_target")

    def __init__(self, connection: sqlite3.Connection, target: str) -> None:
        self._execute = connection.execute
        self._target = target

    def heads(self, stream: str) -> Heads:
        row = self._execute(statements.HEADS, {"stream": stream}).fetchone()
        if row is None:
            raise CorruptLedger(self._target, "resolution_ledger_meta is empty")
        version, head, last_position, *first = row
        if version != len(MIGRATIONS):
            # Checked with every look at the log: a process with old code stops here.
            if isinstance(version, int) and version > len(MIGRATIONS):
                raise SchemaTooNew(self._target, found=version, known=len(MIGRATIONS))
            raise CorruptLedger(self._target, f"schema version {version!r}")
        if not isinstance(last_position, int | None):
            raise CorruptLedger(self._target, f"{stream} has position {last_position!r}")
        return head or 0, last_position, None if first[0] is None else cast(StoredRow, tuple(first))

    def head(self) -> int:
        """The greatest sequence of the log, 0 if it is empty."""
        (head,) = self._execute(statements.HEAD).fetchone()
        return head or 0

    def events_by_fingerprint(self, stream: str, fingerprints: tuple[int, int]) -> list[StoredRow]:
        return self._execute(statements.EVENTS_BY_FINGERPRINT, (*fingerprints, stream)).fetchall()

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
