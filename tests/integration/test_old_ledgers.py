"""Ledgers that earlier versions wrote: what was promised of them still holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from chains import hashes_on_record, unbroken
from inside import OpenLedger, definitions
from integration.old_ledgers import LEDGERS, restore
from processes import ledger_id
from resolution_ledger import (
    Closed,
    IdempotencyConflict,
    LedgerAdmin,
    Lost,
    OutsideWorkspace,
    Replayed,
    Withdrawn,
    Won,
)
from samples import OTHER_WORKSPACE, instance, record, response


@pytest.fixture(params=LEDGERS, ids=lambda dump: dump.stem)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A ledger as it was written then."""
    return restore(request.param, tmp_path / "ledger.db")


CHECKPOINTS = {
    "00112233445566778899aabbccddeeff": "6\nV+q3VrVyDASel92YlEwjOfDYaZo5mJ66OKQy9gboP3o=\n",
    "ffeeddccbbaa99887766554433221100": "16\nR5XDK5572hKFR9FQ/9BER4lUXXjxbz+4Ls5lj/KfDf0=\n",
}
"""What they ended in, by their identities."""

that_knows_closings = pytest.mark.parametrize(
    "path", LEDGERS[1:], indirect=True, ids=lambda dump: dump.stem
)


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


def test_after_the_first_write_it_has_the_schema_of_a_new_one(
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
    path: Path, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    connection = foreign()
    before = hashes_on_record(connection)
    length = len(before)
    assert unbroken(connection) == length >= 6
    ledger = open_ledger()
    assert ledger.resolve(record(3, 1, 1)) == Won()
    assert ledger.history(instance(3))[0].sequence == length + 1
    assert ledger.resolve(record(1, 4, 4)) == Lost(response(1))
    assert ledger.history(instance(1))[-1].position == 6
    assert ledger.withdraw(instance(8), "expired") == Withdrawn()
    assert ledger.withdraw(instance(1), "expired") == Lost(response(1))
    assert hashes_on_record(connection)[:length] == before
    assert unbroken(connection) == length + 4
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().findings == ()


def test_it_is_what_its_checkpoint_of_then_commits_to(path: Path) -> None:
    with LedgerAdmin.open(path) as admin:
        name = ledger_id(str(path))
        checkpoint = f"resolution-ledger/{name}\n{CHECKPOINTS[name]}"
        assert admin.checkpoint() == checkpoint
        assert admin.verify(checkpoint).findings == ()


@that_knows_closings
def test_what_was_closed_stays_closed(open_ledger: OpenLedger) -> None:
    """And whatever was submitted after that gets the answer that it got then, without a trace."""
    ledger, other = open_ledger(workspace="ws-3"), open_ledger(workspace=OTHER_WORKSPACE)
    closed = Closed("expired")
    assert ledger.winner(instance(4)) is None
    assert ledger.wait(instance(4)) == closed
    assert ledger.resolve(record(4, 1, 1)) == ledger.resolve(record(4, 2, 1)) == closed
    assert ledger.withdraw(instance(4), "expired") == closed
    assert ledger.withdraw(instance(4), "withdrawn") == closed
    assert ledger.withdraw(instance(5), "withdrawn") == Lost(response(1))
    for again in (lambda: other.withdraw(instance(4), "expired"), lambda: other.wait(instance(4))):
        with pytest.raises(OutsideWorkspace):
            again()
    assert other.withdraw(instance(6), "withdrawn") == Closed("withdrawn")
    history = ledger.history(instance(4))
    assert [attempt.outcome for attempt in history] == ["closed", "late", "late", "withdrawal-late"]
    assert [attempt.submitted_by for attempt in history] == ["timer", "tty", "", ""]
    assert [attempt.reason for attempt in history] == ["expired", None, None, "withdrawn"]
    assert [attempt.response for attempt in history] == [None, response(1), response(2), None]
    assert [attempt.tick - 1_700_000_000_000_000_000 for attempt in history] == [6, 7, 8, 9]
    assert [loser.sequence for loser in ledger.losers()] == [9, 8]


@that_knows_closings
def test_what_an_operator_finds_of_closings_is_what_was_found_then(path: Path) -> None:
    """In the log and in the read models."""
    with LedgerAdmin.open(path) as admin:
        found = [(a.outcome, a.position) for a in admin.attempts(after=6)]
        closed = [attempt.sequence for attempt in admin.attempts(outcome="closed")]
        assert [(c.first.sequence, c.answers, c.attempts) for c in admin.contested()] == [
            (1, 3, 2),
            (7, 2, 3),
        ]
    assert found == [
        ("closed", 1),
        ("late", 2),
        ("late", 3),
        ("withdrawal-late", 4),
        ("withdrawal-fenced", 5),
        ("fenced", 6),
        ("won", 1),
        ("withdrawal-lost", 2),
        ("withdrawal-fenced", 3),
        ("closed", 1),
    ]
    assert closed == [7, 16]
