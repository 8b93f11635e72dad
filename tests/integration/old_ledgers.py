"""The ledgers that earlier versions wrote."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path

from resolution_ledger import LedgerAdmin, Lost, Replayed, ResolutionLedger, Withdrawn, Won
from resolution_ledger.infra.sqlite import schema
from samples import instance, record, response

LEDGERS = sorted(Path(__file__).parents[1].joinpath("ledgers").glob("*.sql"))
"""One for each schema version that was ever committed, as SQL. They are never changed.

In each, after six attempts: response 1 won instance 1 and came again under key 3; response 2
lost under key 2, which response 3 then presented; another workspace tried, too, and won
instance 2.

From version 2 on, there is a third workspace after that. In it, instance 4 expired; responses 1
and 2 came too late, as did a withdrawal of the same instance; another workspace tried both, too.
Response 1 won instance 5, before both workspaces withdrew it. The other workspace closed
instance 6.
"""

VERSION_1 = LEDGERS[0]

NEWEST = len(schema.MIGRATIONS)

CALLERS_CALLS: dict[str, Callable[[ResolutionLedger], object]] = {
    "winner": lambda ledger: ledger.winner(instance(1)) == response(1),
    "winner, of nobody": lambda ledger: ledger.winner(instance(9)) is None,
    "history": lambda ledger: len(ledger.history(instance(1))) == 4,
    "losers": lambda ledger: [loser.sequence for loser in ledger.losers()] == [4, 2],
    "wait": lambda ledger: ledger.wait(instance(1), 0) == response(1),
    "wait, in vain": lambda ledger: ledger.wait(instance(9), 0.1) is None,
    "watch": lambda ledger: len([*islice(ledger.watch(), 4)]) == 4,
}
"""What a caller can read of a ledger of version 1, and whether it is so."""

OPERATORS_CALLS: dict[str, Callable[[LedgerAdmin], object]] = {
    "verify": lambda admin: admin.verify().findings == (),
    "verify with a checkpoint": lambda admin: admin.verify(admin.checkpoint()).clean,
    "attempts": lambda admin: len([*admin.attempts()]) == 6,
    "closed attempts": lambda admin: [*admin.attempts(outcome="closed")] == [],
    "history": lambda admin: len(admin.history(instance(1))) == 5,
    "resolution": lambda admin: admin.resolution(instance(9)) is None,
    "contested": lambda admin: len(admin.contested()) == 1,
    "state_at": lambda admin: len([*admin.state_at(6)]) == 2,
    "checkpoint": lambda admin: admin.checkpoint(),
    "export": lambda admin: admin.export(io.BytesIO()),
    "watch": lambda admin: len([*islice(admin.watch(), 6)]) == 6,
    "rebuild": lambda admin: admin.rebuild().clean,
}
"""What an operator can."""

IN_VAIN = CALLERS_CALLS["wait, in vain"]

FIRST_WRITES: dict[str, tuple[Callable[[ResolutionLedger], object], object]] = {
    "a win": (lambda ledger: ledger.resolve(record(9, 1, 1)), Won()),
    "a loss": (lambda ledger: ledger.resolve(record(1, 9, 9)), Lost(response(1))),
    "a retransmission": (
        lambda ledger: ledger.resolve(record(1, 1, 1)),
        Replayed(response(1), own=True),
    ),
    "a closing": (lambda ledger: ledger.withdraw(instance(9), "expired"), Withdrawn()),
    "a withdrawal": (lambda ledger: ledger.withdraw(instance(1), "expired"), Lost(response(1))),
    "creation": (lambda ledger: ledger.create(), None),
}
"""What brings it up to date, and what is told."""


def restore(dump: Path, path: Path, *, journal: str = "delete") -> Path:
    """Make a database of the SQL, and return its path."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text())
        connection.execute(f"PRAGMA journal_mode = {journal}")
    return path


def tables_of_version_1(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """What is in the tables that version 1 had and that grow, by name."""
    return {
        table: connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608
        for table in ("resolution_events", "interaction_resolutions", "losing_attempts")
    }
