"""The statements of an operator's session: reading everything, and mending read models."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import ValidationError, convert

from ...domain.errors import CorruptLedger
from ...projections.read_models import READ_MODELS, Key, ReadModel, Row
from ..rows import LogRow, Page, SchemaPart
from . import mending, recognition, statements
from . import operator_statements as sql
from .errors import DATABASE_ERRORS, store_error
from .session import SQLiteSession

_ROWS_AT_ONCE = 10
_ORDINARY = 4096
"""Bytes: what comes in larger rows is fetched one by one, and counted before the next."""
_MOST_BYTES = 8 * 2**20
"""What a page of rows may take, as they are stored: those that a ledger writes take far less."""
_SIZED = (str, bytes)


_MISCOUNTED = re.compile("wrong # of entries in index (.+)")
_LACKING = re.compile("row [0-9]+ missing from index (.+)")
"""What SQLite finds. An index with the former alone has all that its table has, and more."""


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
        ((sequence,),) = self.read(sql.HEAD_SEQUENCE)
        if sequence is not None and type(sequence) is not int:
            raise CorruptLedger(self.target, f"the greatest sequence is {sequence!r}")
        return sequence or 0

    def storage_faults(self, table: str) -> list[str]:
        """What SQLite itself finds wrong with a table and its indexes."""
        lines = [str(line) for (line,) in self._run(f"PRAGMA integrity_check({table})")]
        return [] if lines == ["ok"] else lines

    def has_lost_rows(self, table: str) -> bool:
        faults = self.storage_faults(table)
        counted = {found[1] for fault in faults if (found := _MISCOUNTED.fullmatch(fault))}
        lacking = {found[1] for fault in faults if (found := _LACKING.fullmatch(fault))}
        return bool(counted - lacking)

    def reindex(self, table: str) -> None:
        self._run(f"REINDEX {table}")

    def ledger_id(self) -> str:
        ledger_id = self._ledger_id()
        self.schema_version()
        return ledger_id

    def log(self, start: int, upto: int, limit: int) -> Page[LogRow]:
        return self._page(sql.LOG, start, upto, limit)

    def streams(self, after: int | None, upto: int, limit: int) -> Page[LogRow]:
        if after is None:
            return self._page(sql.STREAMS_FROM_THE_BEGINNING, upto, limit)
        return self._page(sql.STREAMS, after, upto, limit)

    def stream(self, stream: str, limit: int) -> list[LogRow]:
        return self._events(sql.STREAM, stream, limit)

    def first_events(
        self, after: Key, upto: int, limit: int, *, closing: bool = False
    ) -> Page[LogRow]:
        if after is None:
            return self._page(sql.first_events(closing=closing), upto, limit)
        place, value = _placeholder(after)
        return self._page(sql.first_events(place, closing=closing), value, upto, limit)

    def event(self, sequence: int) -> LogRow | None:
        return next(iter(self._events(sql.EVENT, sequence)), None)

    def rows(self, model: ReadModel, after: Key, limit: int) -> Page[Row]:
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
        statement = f"DELETE FROM {model.table} WHERE {model.columns[0]} IS {place}"
        try:
            removed = self.execute(statement, (value,)).rowcount
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        if removed < 1:  # somebody's trigger, or a key that its own index does not find
            raise CorruptLedger(self.target, f"{model.table} did not give up a row")

    def read_models(self) -> tuple[ReadModel, ...]:
        tables = recognition.tables_of(self.schema_version())
        return tuple(model for model in READ_MODELS if model.table in tables)

    def missing(self) -> list[SchemaPart]:
        try:
            faults = mending.faults(self.connection, self.schema_version())
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        return [SchemaPart(part.name, _one_line(part.sql), found) for part, found in faults]

    def mend_schema(self) -> None:
        try:
            mending.mend(self.connection, self.target)
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
            yield from self.connection.execute(sql.WINNERS_BY_TICK)
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        finally:
            self.connection.text_factory = str

    def contested(self, limit: int) -> list[tuple[str, int, int, int]]:
        rows = self.read(sql.CONTESTED, (limit,))
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

    def _page(self, statement: str, *values: object) -> Page[LogRow]:
        rows = self._tolerant(statement, *values)
        page = Page(map(LogRow._make, rows))
        page.cut = rows.cut
        return page

    def _tolerant(self, statement: str, *values: object) -> Page[Any]:
        """The rows of a statement, damaged texts included, as far as memory is given to them.

        The last of the values is the limit, where a statement has one.
        """
        try:
            rows = self._rows(statement, values)
        except (sqlite3.OperationalError, UnicodeDecodeError) as error:
            if getattr(error, "sqlite_errorcode", None) is not None:
                raise store_error(error, self.target) from error
            # Python's module could not decode a text: take what is wrong with it as surrogates.
            self.connection.text_factory = _surrogates
            try:
                rows = self._rows(statement, values)
            except DATABASE_ERRORS as again:
                raise store_error(again, self.target) from again
            finally:
                self.connection.text_factory = str
        except DATABASE_ERRORS as error:
            raise store_error(error, self.target) from error
        self.schema_version()
        return rows

    def _rows(self, statement: str, values: tuple[object, ...]) -> Page[Any]:
        cursor = self.execute(statement, values)
        rows: Page[Any] = Page()
        size, step = 0, 1
        while some := cursor.fetchmany(step):
            rows += some
            size += sum(len(value) for row in some for value in row if isinstance(value, _SIZED))
            if size > _MOST_BYTES:
                self.execute("SELECT 0 LIMIT 0")  # lets go of the rest
                rows.cut = True
                return rows
            step = _ROWS_AT_ONCE if size < _ORDINARY * len(rows) else 1
        rows.cut = bool(values) and len(rows) == values[-1]
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


def _one_line(statement: str) -> str:
    """The statement without its layout."""
    return " ".join(statement.split())
