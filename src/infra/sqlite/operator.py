"""The statements of an operator's session: reading everything, and mending read models."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import ValidationError, convert

from ...domain.errors import CorruptLedger
from ...projections.read_models import Key, ReadModel, Row
from ..database import LogRow
from . import recognition, statements
from .errors import DATABASE_ERRORS, store_error
from .session import SQLiteSession

_EVENT = """
    SELECT sequence, originator_id, originator_version, topic, state, fingerprint, hash
      FROM resolution_events
"""

# +sequence: only the keys of the streams may be walked here, in the order that is asked for.

LOG = f"{_EVENT} WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?"

HEAD_SEQUENCE = "SELECT max(sequence) FROM resolution_events"

STREAM = f"{_EVENT} WHERE originator_id = ? ORDER BY originator_version LIMIT ?"

EVENT = f"{_EVENT} WHERE sequence = ?"

STREAMS_FROM_THE_BEGINNING = f"""
    {_EVENT}
     WHERE +sequence <= ?
     ORDER BY originator_id, originator_version
     LIMIT ?
"""

# The place to go on from is named by an event, so that not even a damaged id is misread.
STREAMS = f"""
    {_EVENT}
     WHERE (originator_id, originator_version) > (SELECT originator_id, originator_version
                                                   FROM resolution_events WHERE sequence = ?)
       AND +sequence <= ?
     ORDER BY originator_id, originator_version
     LIMIT ?
"""

FIRST_EVENTS_FROM_THE_BEGINNING = f"""
    {_EVENT}
     WHERE originator_version = 1 AND +sequence <= ?
     ORDER BY originator_id
     LIMIT ?
"""

WINNERS_BY_TICK = """
    SELECT instance_id, workspace_key, response_id, idempotency_key, resolved_tick
      FROM interaction_resolutions
     ORDER BY resolved_tick, instance_id
"""

CONTESTED = """
    SELECT instance_id, count(DISTINCT losing.response_id) AS others, count(*),
           min(attempted_tick)
      FROM losing_attempts AS losing JOIN interaction_resolutions AS winner USING (instance_id)
     WHERE losing.response_id <> winner.response_id
     GROUP BY instance_id
     ORDER BY others DESC, count(*) DESC, instance_id
     LIMIT ?
"""


class SQLiteOperatorSession(SQLiteSession):
    """What :class:`..database.OperatorSession` promises."""

    __slots__ = ()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        self._run("BEGIN")
        try:
            yield
        finally:
            if self.connection.in_transaction:
                self._run("COMMIT")

    def head_sequence(self) -> int:
        ((sequence,),) = self.read(HEAD_SEQUENCE)
        return sequence or 0

    def ledger_id(self) -> str:
        ledger_id = self._ledger_id()
        self._check_version()
        return ledger_id

    def log(self, start: int, upto: int, limit: int) -> list[LogRow]:
        return self._events(LOG, start, upto, limit)

    def streams(self, after: int | None, upto: int, limit: int) -> list[LogRow]:
        if after is None:
            return self._events(STREAMS_FROM_THE_BEGINNING, upto, limit)
        return self._events(STREAMS, after, upto, limit)

    def stream(self, stream: str, limit: int) -> list[LogRow]:
        return self._events(STREAM, stream, limit)

    def first_events(self, after: Key, upto: int, limit: int) -> list[LogRow]:
        if after is None:
            return self._events(FIRST_EVENTS_FROM_THE_BEGINNING, upto, limit)
        place, value = _placeholder(after)
        statement = f"""
            {_EVENT}
             WHERE originator_id > {place} AND originator_version = 1 AND +sequence <= ?
             ORDER BY originator_id
             LIMIT ?
        """
        return self._events(statement, value, upto, limit)

    def first_event_of(self, stream: Key) -> LogRow | None:
        place, value = _placeholder(stream)
        statement = f"{_EVENT} WHERE originator_id = {place} AND originator_version = 1"
        return next(iter(self._events(statement, value)), None)

    def event(self, sequence: int) -> LogRow | None:
        return next(iter(self._events(EVENT, sequence)), None)

    def rows(self, model: ReadModel, after: Key, limit: int) -> list[Row]:
        place, value = _placeholder(after)
        key = model.columns[0]
        condition = f"{key} IS NOT NULL AND ?1 IS NULL" if after is None else f"{key} > {place}"
        return self._tolerant(
            f"{_select(model)} WHERE {condition} ORDER BY 1 LIMIT ?", value, limit
        )

    def row(self, model: ReadModel, key: Key) -> Row | None:
        place, value = _placeholder(key)
        found = self._tolerant(f"{_select(model)} WHERE {model.columns[0]} IS {place}", value)
        return found[0] if found else None

    def put(self, model: ReadModel, rows: list[Row]) -> None:
        key, *others = model.columns
        statement = (
            f"INSERT INTO {model.table} ({', '.join(model.columns)})"
            f" VALUES ({', '.join('?' * len(model.columns))})"
            f" ON CONFLICT ({key}) DO UPDATE"
            f" SET {', '.join(f'{column} = excluded.{column}' for column in others)}"
        )
        try:
            taken = self.connection.executemany(statement, rows).rowcount
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        if taken != len(rows):  # somebody's trigger may say RAISE(IGNORE)
            raise CorruptLedger(self.target, f"{model.table} did not take a row")

    def remove(self, model: ReadModel, key: Key) -> None:
        place, value = _placeholder(key)
        self._run(f"DELETE FROM {model.table} WHERE {model.columns[0]} IS {place}", (value,))

    def missing(self) -> list[tuple[str, str, str | None]]:
        try:
            faults = recognition.faults(self.connection)
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        return [(fault.part.name, fault.part.sql, fault.found) for fault in faults]

    def mend_schema(self) -> None:
        try:
            recognition.mend(self.connection, self.target)
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error

    def establish(self, *, adopting: bool = False) -> None:
        try:
            recognition.establish(self.connection, self.target, adopting=adopting)
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error

    def winners_by_tick(self) -> Iterator[Row]:
        self.connection.text_factory = _surrogates
        try:
            yield from self.connection.execute(WINNERS_BY_TICK)
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        finally:
            self.connection.text_factory = str

    def contested(self, limit: int) -> list[tuple[str, int, int, int]]:
        rows = self.read(CONTESTED, (limit,))
        try:
            return convert(rows, list[tuple[str, int, int, int]])
        except ValidationError as error:
            raise CorruptLedger(self.target, f"losing_attempts: {error}") from error

    def take_identity(self, ledger_id: str) -> None:
        self._run(statements.TAKE_IDENTITY, (ledger_id,))
        if self.ledger_id() != ledger_id:
            raise CorruptLedger(self.target, "the database did not take the identity")

    def _events(self, statement: str, *values: object) -> list[LogRow]:
        return list(map(LogRow._make, self._tolerant(statement, *values)))

    def _tolerant(self, statement: str, *values: object) -> list[Any]:
        """All rows of a statement, damaged texts included."""
        try:
            rows = self.execute(statement, values).fetchall()
        except (sqlite3.OperationalError, UnicodeDecodeError) as error:
            if getattr(error, "sqlite_errorcode", None) is not None:
                raise store_error(error, self.target) from error
            # Python's module could not decode a text: take what is wrong with it as surrogates.
            self.connection.text_factory = _surrogates
            try:
                rows = self._run(statement, values)
            finally:
                self.connection.text_factory = str
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        self._check_version()
        return rows


def _surrogates(text: bytes) -> str:
    return text.decode(errors="surrogateescape")


def _select(model: ReadModel) -> str:
    return f"SELECT {', '.join(model.columns)} FROM {model.table}"


def _placeholder(key: Key) -> tuple[str, object]:
    """How to pass a key, also one that is no UTF-8 and came with surrogates."""
    if isinstance(key, str) and not key.isascii():
        return "CAST(? AS TEXT)", key.encode(errors="surrogateescape")
    return "?", key
