"""The statements of a session, on one SQLite connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, cast

from msgspec import ValidationError, convert
from msgspec.structs import astuple

from ...domain.errors import CorruptLedger, SchemaTooNew
from ...domain.records import Outcome
from ...projections.closed_instances import ClosedInstanceRow
from ...projections.losing_attempts import LosingAttemptRow
from ...projections.winners import WinnerRow
from .. import chain
from ..chain import Head
from ..rows import NewRow, StoredRow
from . import statements
from .errors import DATABASE_ERRORS, store_error
from .schema import MIGRATIONS

_POSITION = itemgetter(2)
_LOSING_ATTEMPT = tuple[int, str, int, Outcome, str, str, str, str, int]


class SQLiteSession:
    """What :class:`..database.Session` promises."""

    __slots__ = ("_reading", "_winner", "connection", "execute", "target")

    def __init__(
        self, connection: sqlite3.Connection, target: str, *, reading: bool = False
    ) -> None:
        """By default, for a ledger of the newest version.

        :param reading: one of an older version is read as it is.
        """
        self.connection = connection
        self.target = target
        self._reading = reading
        self._winner = statements.winner(len(MIGRATIONS))
        # One cursor for all statements, each of which is done before the next begins: to make
        # one takes a third of the time of a short statement.
        self.execute = connection.cursor().execute

    def wait_for_others(self, seconds: float) -> None:
        """How long each statement waits for other connections from now on."""
        self._run(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    def heads(self, stream: str) -> tuple[Head, int | None]:
        rows = self._run(statements.HEADS, (stream,))
        if not rows:
            return self.head(), None
        version, sequence, digest, first = rows[0]
        if version != len(MIGRATIONS):  # as in _check, without the cost of a call
            self._check(version)
        return self._head(sequence, digest), first

    def first_event(self, stream: str) -> StoredRow | None:
        rows = self._of_a_stream(statements.FIRST_EVENT, stream)
        return rows[0] if rows else None

    def events_that_matter(
        self, stream: str, first: int, fingerprints: tuple[int, int]
    ) -> tuple[int, list[StoredRow]]:
        by_key, by_submission = fingerprints
        *rows, (_, _, last_position, _, _) = self._run(
            statements.EVENTS_THAT_MATTER,
            (first, by_key, stream, by_submission, stream, stream),
        )
        positions = [last_position, *map(_POSITION, rows)]
        if not rows or not all(isinstance(position, int) for position in positions):
            raise CorruptLedger(self.target, f"{stream} has positions {positions}")
        rows.sort(key=_POSITION)  # a few rows: a sort in SQL takes a temporary table
        return last_position, rows

    def winner(self, won: tuple[str, str]) -> str | None:
        """What :meth:`..database.Database.winner` promises, given the stream and the workspace."""
        execute = self.execute
        try:
            rows: Iterable[tuple[str]] = execute(self._winner, won)
            for (response,) in rows:
                return response
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        return None

    def head(self) -> Head:
        """The head of the log."""
        rows = self.read(statements.HEAD)
        return self._head(*rows[0]) if rows else chain.origin(self._ledger_id())

    def _head(self, sequence: object, digest: object) -> Head:
        if type(sequence) is not int:
            raise CorruptLedger(self.target, f"the greatest sequence is {sequence!r}")
        if type(digest) is not bytes or len(digest) != chain.HASH_SIZE:
            raise CorruptLedger(self.target, "the hash is no hash", sequence=sequence)
        return Head(sequence, digest)

    def _ledger_id(self) -> str:
        rows = self._run(statements.LEDGER_ID)
        if not rows or not isinstance(rows[0][0], str):
            raise CorruptLedger(self.target, "it has lost its identity")
        return rows[0][0]

    def stream_events(self, stream: str) -> list[StoredRow]:
        return self._of_a_stream(statements.STREAM_EVENTS, stream)

    def _of_a_stream(self, statement: str, stream: str) -> list[StoredRow]:
        """The rows of a statement, in which the schema version stands behind each."""
        rows = self._run(statement, (stream,))
        if rows:
            self._check(rows[0][-1])
        else:
            self.schema_version()
        return [row[:-1] for row in rows]

    def losing_attempts(self, workspace: str, limit: int) -> list[LosingAttemptRow]:
        rows = self.read(statements.LOSING_ATTEMPTS, (workspace, limit))
        try:
            return [LosingAttemptRow(*convert(row, _LOSING_ATTEMPT)) for row in rows]
        except ValidationError as error:
            raise CorruptLedger(self.target, f"losing_attempts: {error}") from error

    def append_event(self, head: Head, row: NewRow) -> Head:
        sequence = head.sequence + 1
        stream, position, tag, state, fingerprint = row
        try:
            digest = chain.link(head.hash, sequence, stream, position, tag, state)
        except OverflowError as error:
            raise store_error(error, self.target) from error
        self._insert(
            statements.APPEND_EVENT, (sequence, stream, position, tag, state, fingerprint, digest)
        )
        return Head(sequence, digest)

    def add_winner(self, row: WinnerRow) -> None:
        self._insert(statements.ADD_WINNER, astuple(row))

    def add_losing_attempt(self, row: LosingAttemptRow) -> None:
        self._insert(statements.ADD_LOSING_ATTEMPT, astuple(row))

    def add_closed_instance(self, row: ClosedInstanceRow) -> None:
        self._insert(statements.ADD_CLOSED_INSTANCE, astuple(row))

    def read(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        """All rows of a statement, if the schema is the one that it was written for."""
        rows = self._run(statement, values)
        self.schema_version()  # after reading: versions only grow, so the rows were of no newer one
        return rows

    def is_up_to_date(self) -> bool:
        return self.schema_version() == len(MIGRATIONS)

    def schema_version(self) -> int:
        """The version of the ledger's schema.

        :raises SchemaTooNew: if this code does not know it.
        """
        versions = self._run(statements.SCHEMA_VERSION)
        version = versions[0][0] if versions else None
        self._check(version)
        return cast(int, version)

    def _check(self, version: object) -> None:
        newest = len(MIGRATIONS)
        if version == newest:
            return
        if self._reading and isinstance(version, int) and 0 < version < newest:
            return
        if isinstance(version, int) and version > newest:
            raise SchemaTooNew(self.target, found=version, known=newest)
        raise CorruptLedger(self.target, f"schema version {version!r}")

    def _insert(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            inserted = self.execute(statement, values).rowcount
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        if inserted != 1:  # somebody's trigger may say RAISE(IGNORE)
            raise CorruptLedger(self.target, "the database did not take a row")

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        """All rows of a statement, so that none stays open."""
        try:
            return self.execute(statement, values).fetchall()
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
