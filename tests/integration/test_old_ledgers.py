"""Ledgers that earlier versions wrote: what was promised of them still holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chains import hashes_on_record, unbroken
from integration.inside import OpenLedger, definitions
from resolution_ledger import IdempotencyConflict, Lost, OutsideWorkspace, Replayed, Won
from samples import OTHER_WORKSPACE, instance, record, response

LEDGERS = sorted(Path(__file__).parents[1].joinpath("ledgers").glob("*.sql"))
"""One for each schema version that was ever published, as SQL. They are never changed.

In each, after six attempts: response 1 won instance 1 and came again under key 3; response 2
lost under key 2, which response 3 then presented; another workspace tried, too, and won
instance 2.
"""


@pytest.fixture(params=LEDGERS, ids=lambda dump: dump.stem)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A ledger as it was written then."""
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(request.param.read_text())
    return path


def test_every_submission_gets_the_answer_that_it_got_then(open_ledger: OpenLedger) -> None:
    ledger, other = open_ledger(), open_ledger(workspace=OTHER_WORKSPACE)
    assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
    assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))
    assert ledger.resolve(record(1, 1, 3)) == Replayed(response(1), own=False)
    with pytest.raises(IdempotencyConflict) as conflict:
        ledger.resolve(record(1, 3, 2))
    assert conflict.value.existing == response(2)
    with pytest.raises(OutsideWorkspace):
        other.resolve(record(1, 1, 1))
    assert other.resolve(record(2, 1, 1)) == Replayed(response(1), own=True)
    history = ledger.history(instance(1))
    assert [attempt.outcome for attempt in history] == ["won", "lost", "replayed", "conflicted"]
    assert [attempt.submitted_by for attempt in history] == ["tty", "web:7f3a", "", ""]
    assert [attempt.tick - 1_700_000_000_000_000_000 for attempt in history] == [0, 1, 2, 3]
    assert [loser.sequence for loser in ledger.losers()] == [4, 2]


def test_after_the_first_call_it_has_the_schema_of_a_new_one(
    open_ledger: OpenLedger, foreign: Callable[..., sqlite3.Connection], tmp_path: Path
) -> None:
    open_ledger().resolve(record(1, 1, 1))
    open_ledger(tmp_path / "new.db").resolve(record(1, 1, 1))
    old, new = (
        [[" ".join(str(text).split()) for text in part] for part in definitions(connection)]
        for connection in (foreign(), foreign(tmp_path / "new.db"))
    )
    assert old == new


def test_it_goes_on_where_it_ended(
    open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    connection = foreign()
    before = hashes_on_record(connection)
    assert unbroken(connection) == len(before) == 6
    ledger = open_ledger()
    assert ledger.resolve(record(3, 1, 1)) == Won()
    assert ledger.history(instance(3))[0].sequence == 7
    assert ledger.resolve(record(1, 4, 4)) == Lost(response(1))
    assert ledger.history(instance(1))[-1].position == 6
    assert hashes_on_record(connection)[:6] == before
    assert unbroken(connection) == 8
