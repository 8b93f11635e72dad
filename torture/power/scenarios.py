"""What is recorded: the life of a ledger from its making on, and the other ways to come by one."""

from __future__ import annotations

import io
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Literal

from resolution_ledger import (
    InstanceId,
    LedgerAdmin,
    ResolutionLedger,
    ResponseId,
)

from .cutting import Scenario
from .script import EXPORT, LEDGER, WORKSPACES, Script, drawn, submit

_EVENTS = 12
"""That there are in an export, or winners in a table, when the recording begins."""

_OTHER_SEED = 1_000_003
"""Submissions of another draw: what the script submits then meets some of them."""

Durability = Literal["full", "normal"]


def every(commits: int, seed: int) -> Iterator[Scenario]:
    """All scenarios, the first two of which have so many commits."""
    yield life("full", commits, seed)
    yield life("normal", commits, seed)
    few = max(1, commits // 10)
    yield imported(few, seed)
    yield imported(few, seed, into_a_file=True)
    yield adopted(few, seed)


def life(
    durability: Durability,
    commits: int,
    seed: int,
    synchronous: Literal["OFF", "NORMAL"] | None = None,
) -> Scenario:
    """A ledger that is made by its first answer, used, closed and opened again."""
    script = Script("", durability, commits, seed, synchronous=synchronous)
    return Scenario(f"life, {durability}", script)


def imported(commits: int, seed: int, *, into_a_file: bool = False) -> Scenario:
    """One that is made of an export: in a new file, or in one that is there and empty."""
    script = Script("", "full", commits, seed, begins="import")
    before = {EXPORT: _export(seed)}
    if into_a_file:
        return Scenario("import into a file", script, {**before, LEDGER: b""}, _EVENTS)
    return Scenario("import", script, before, _EVENTS)


def adopted(commits: int, seed: int) -> Scenario:
    """One that takes over the winners of a one-row table, in a database without a WAL."""
    script = Script("", "full", commits, seed, begins="adopt")
    return Scenario("adopt", script, {LEDGER: _one_row_table()}, _EVENTS)


def migrated(old: bytes, events: int, commits: int, seed: int) -> Scenario:
    """One that an older version has made, with so many events in it."""
    script = Script("", "full", commits, seed)
    return Scenario("migrate", script, {LEDGER: old}, events, from_the_start=True)


def _export(seed: int) -> bytes:
    exported = io.BytesIO()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, LEDGER)
        with ResolutionLedger.open(path, workspace=WORKSPACES[0]) as ledger:
            instances = set[str]()
            for instance, asked in drawn(Random(seed + _OTHER_SEED), 100 * _EVENTS):
                if instance not in instances and len(instances) < _EVENTS:
                    instances.add(instance)
                    submit(ledger, instance, asked)
        with LedgerAdmin.open(path) as admin:
            admin.export(exported)
    return exported.getvalue()


def _one_row_table() -> bytes:
    """The database of a program that decides with a table alone."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, LEDGER)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(
                "CREATE TABLE interaction_resolutions (instance_id TEXT PRIMARY KEY,"
                " workspace_key TEXT NOT NULL, response_id TEXT NOT NULL,"
                " idempotency_key TEXT NOT NULL, resolved_tick INTEGER NOT NULL)"
            )
            for n in range(_EVENTS):
                instance = str(InstanceId.mint({"question": n}))
                response = str(ResponseId.mint({"answer": n % 4}))
                row = (instance, WORKSPACES[0], response, f"key-{n % 4}", n)
                connection.execute("INSERT INTO interaction_resolutions VALUES (?,?,?,?,?)", row)
        return path.read_bytes()
