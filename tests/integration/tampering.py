"""Ledgers to be tampered with: made, damaged past their guards, and put right again."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import chain, count
from pathlib import Path
from random import Random
from typing import Self

import chains
from answers import answer
from integration.one_row_program import ONE_ROW_TABLE
from resolution_ledger import (
    Finding,
    LedgerAdmin,
    Progress,
    ResolutionLedger,
)
from resolution_ledger.infra.sqlite.schema import TABLES
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response
from submissions import EVERY_OUTCOME, Submitted, identity, some_submission

ADOPTED = 4
"""So many events that a ledger of these begins with were adopted."""

GREATEST, LEAST = 2**63 - 1, -(2**63)
"""The numbers at which a column of them ends."""


def make_ledger(path: Path, length: int, seed: int = 1) -> list[Submitted]:
    """A ledger of exactly so many events: every outcome, two workspaces, adopted wins first.

    The same in every run but for its identity. Returns what was submitted, in order.
    """
    adopted = [record(n, n, n, "") for n in range(ADOPTED)]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(ONE_ROW_TABLE)
        for attempt in adopted:
            connection.execute(
                "INSERT INTO interaction_resolutions VALUES (?, ?, ?, ?, ?)",
                (
                    attempt.instance.text,
                    WORKSPACE,
                    attempt.response.text,
                    attempt.idempotency_key.text,
                    attempt.instance == instance(0),
                ),
            )
    with LedgerAdmin.open(path) as admin:
        admin.adopt()
    draw = Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    submitted: list[Submitted] = [(WORKSPACE, attempt) for attempt in adopted]
    on_record = {(WORKSPACE, *identity(attempt)) for attempt in adopted}
    coming = chain(EVERY_OUTCOME, _draws(draw, max(9, length // 9)))
    ticks = count(1_700_000_000_000_000_000)
    with ExitStack() as stack:
        doors = {
            workspace: stack.enter_context(
                ResolutionLedger.open(
                    path, workspace=workspace, durability="normal", clock=lambda: next(ticks)
                )
            )
            for workspace in (WORKSPACE, OTHER_WORKSPACE)
        }
        while len(on_record) < length:
            workspace, submission = next(coming)
            answer(doors[workspace], submission)
            submitted.append((workspace, submission))
            on_record.add((workspace, *identity(submission)))
    return submitted


def _draws(draw: Random, instances: int) -> Iterator[Submitted]:
    while True:
        yield some_submission(draw, instances)


def make_empty(path: Path) -> None:
    """A ledger without events."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()


@contextmanager
def guards_dropped(connection: sqlite3.Connection) -> Iterator[None]:
    """In here nothing is refused; afterwards the guards are there again, to the letter."""
    guards = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid"
    ).fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        yield
        for _, sql in guards:
            connection.execute(sql)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _flipped(value: bytes, at: int) -> bytes:
    """The bytes with one bit of one of them changed; counted from the end if negative."""
    at %= len(value)
    return value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]


def tamper(path: Path) -> sqlite3.Connection:
    """A connection for damage: what it does need not survive a power cut."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    connection.execute("PRAGMA synchronous = OFF")
    connection.create_function("flip", 2, _flipped, deterministic=True)
    connection.create_function(
        "base64", 1, lambda value: b64encode(value).decode(), deterministic=True
    )
    return connection


class Specimen:
    """A ledger that is damaged again and again, each time from its sound state."""

    def __init__(self, path: Path) -> None:
        self.admin = LedgerAdmin.open(path)
        self.connection = tamper(path)
        for table in TABLES:
            self.connection.execute(
                f"CREATE TEMP TABLE sound_{table} AS SELECT * FROM {table}"  # noqa: S608
            )
        self.length = self.admin.verify().length

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self.admin.close()

    def restore(self) -> None:
        """Put everything back as it was. To be called where no guard is in the way."""
        for table in TABLES:
            self.connection.execute(f"DELETE FROM {table}")  # noqa: S608
            self.connection.execute(f"INSERT INTO {table} SELECT * FROM sound_{table}")  # noqa: S608

    def damage(self, *statements: str) -> None:
        """Nothing but what these statements do is wrong afterwards.

        What was there is still to be read in tables whose names begin with "sound".
        """
        with guards_dropped(self.connection):
            self.restore()
            for statement in statements:
                assert self.connection.execute(statement).rowcount, "nothing was changed"

    def findings(self, *statements: str) -> tuple[Finding, ...]:
        """What is found after these statements."""
        self.damage(*statements)
        return self.verify()

    def verify(self) -> tuple[Finding, ...]:
        """What is found in the ledger as it is now."""
        steps = iter(range(1000 + 10 * self.length))

        def step(_: Progress) -> None:
            assert next(steps, None) is not None, "it goes round in circles"

        return self.admin.verify(progress=step).findings

    def column(self, statement: str) -> list[object]:
        """The first column of all rows that a statement gives on the ledger as it is now."""
        return [row[0] for row in self.connection.execute(statement)]


def rehash(connection: sqlite3.Connection) -> None:
    """Give every event the hash that it must have after those that are now before it."""
    ((ledger_id,),) = connection.execute("SELECT ledger_id FROM resolution_ledger_meta")
    events = connection.execute(
        "SELECT sequence, originator_id, originator_version, topic, state"
        "  FROM resolution_events ORDER BY sequence"
    ).fetchall()
    for event, digest in zip(events, chains.hashes(ledger_id, events), strict=True):
        connection.execute(
            "UPDATE resolution_events SET hash = ? WHERE sequence = ?", (digest, event[0])
        )


def edit(column: str, expression: object, sequence: int) -> str:
    """A statement that puts another value into a column of an event."""
    return f"UPDATE resolution_events SET {column} = {expression} WHERE sequence = {sequence}"  # noqa: S608


def removal(table: str, condition: str) -> str:
    """A statement that removes rows of a table."""
    return f"DELETE FROM {table} WHERE {condition}"  # noqa: S608


def sequences(findings: tuple[Finding, ...]) -> set[int | None]:
    """The events that the findings name; for a gap, the first that is missing as well."""
    gaps = (int(f.expected) for f in findings if f.kind == "sequence" and f.expected)
    return {*(finding.sequence for finding in findings), *gaps}


def sql(value: str | int | bytes | None) -> str:
    """A value as a literal; text that is no UTF-8 comes with surrogates."""
    match value:
        case None:
            return "NULL"
        case int():
            return str(value)
        case bytes():
            return f"x'{value.hex()}'"
    return f"CAST(x'{value.encode(errors='surrogateescape').hex()}' AS TEXT)"


NOBODYS = {"instance": instance(9_999).text, "response": response(9_999).text, "key": key(9_999)}
"""Canonical, and in no ledger of these."""
