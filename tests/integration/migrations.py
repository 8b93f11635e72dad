"""A version of this package that has one more migration than the one under test."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier

import pytest

from processes import PATIENCE, Answers
from resolution_ledger import ResolutionLedger
from resolution_ledger.infra.sqlite import mending, opening, recognition, schema, session, shapes
from samples import WORKSPACE, record

OLD = len(schema.MIGRATIONS)
NEW = OLD + 1

_MIGRATION = """
    CREATE INDEX losing_attempts_by_key ON losing_attempts (idempotency_key)
"""


def add_index(connection: sqlite3.Connection) -> None:
    """The migration that the newer version adds."""
    connection.execute(_MIGRATION)


@contextmanager
def newer_version(migration: schema.Migration = add_index) -> Iterator[None]:
    """In here, this process runs the newer version."""
    migrations = (*schema.MIGRATIONS, migration)
    with pytest.MonkeyPatch.context() as patch:
        for module in (schema, session, opening, recognition, shapes, mending):
            patch.setattr(module, "MIGRATIONS", migrations)
        yield


def version(connection: sqlite3.Connection) -> int:
    """The schema version that is on record."""
    ((number,),) = connection.execute("SELECT schema_version FROM resolution_ledger_meta")
    return int(number)


def resolve_with_newer_version(barrier: Barrier, paths: list[str], response: int) -> Answers:
    """Worker: the first call in each ledger of a process that runs the newer version."""
    answers: Answers = []
    with newer_version():
        for path in paths:
            barrier.wait()
            with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE) as ledger:
                answers.append(ledger.resolve(record(1, response, response)))
    return answers
