"""A table of winners that an older program has filled becomes the beginning of a ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from chains import unbroken
from inside import OpenLedger, all_rows, definitions
from integration import one_row_program
from integration.rebuilders import fill, open_admin
from resolution_ledger import (
    IdempotencyConflict,
    Lost,
    NothingToAdopt,
    OutsideWorkspace,
    Replayed,
    Won,
)
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record, response

Foreign = Callable[..., sqlite3.Connection]

TICKS = [5, -7, 5, 0, 2**63 - 1, -(2**63), 5, 0]
"""Of instance 0 and those after it: some at once, some before 1970."""

ROWS = [
    one_row_program.row(i, 10 + i, 20 + i, tick, (WORKSPACE, OTHER_WORKSPACE)[i % 2])
    for i, tick in enumerate(TICKS)
]


@pytest.fixture(params=one_row_program.FORMS.values(), ids=one_row_program.FORMS)
def path(request: pytest.FixtureRequest, path: Path) -> Path:
    """Where the database of an older program is."""
    one_row_program.make_table(path, ROWS, request.param)
    return path


@pytest.fixture
def adopted(path: Path) -> Path:
    """Where it has been adopted."""
    with open_admin(path) as admin:
        assert admin.adopt() == len(ROWS)
    return path


def test_winners_are_adopted_in_the_order_of_their_ticks_and_ids(adopted: Path) -> None:
    """Each is the first event of its instance, with everything that the row says."""
    with open_admin(adopted) as admin:
        attempts = list(admin.attempts())
    expected = sorted(ROWS, key=lambda row: (row[4], row[0]))
    assert [attempt.sequence for attempt in attempts] == list(range(1, len(ROWS) + 1))
    assert {(a.position, a.outcome, a.submitted_by) for a in attempts} == {(1, "adopted", "")}
    assert [
        (a.instance.text, a.workspace, a.response.text, a.idempotency_key.text, a.tick)
        for a in attempts
    ] == expected


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_the_table_of_winners_stays_as_it_is(path: Path, foreign: Foreign, journal: str) -> None:
    connection = foreign()
    connection.execute(f"PRAGMA journal_mode = {journal}")
    before = one_row_program.table(connection)
    (table,) = (part for part in definitions(connection) if part[0] == "table")
    with open_admin(path) as admin:
        assert admin.adopt() == len(ROWS)
    assert one_row_program.table(connection) == before
    assert table in definitions(connection)


def test_but_for_the_older_table_the_schema_is_that_of_a_fresh_ledger(
    adopted: Path, foreign: Foreign, tmp_path: Path
) -> None:
    fill(tmp_path / "fresh.db", [1])
    ours, fresh = (
        {name: sql for _, name, _, sql in definitions(foreign(path)) if sql}
        for path in (adopted, tmp_path / "fresh.db")
    )
    del ours["interaction_resolutions"], fresh["interaction_resolutions"]
    assert ours == fresh


def test_an_adopted_ledger_is_sound_and_complete(adopted: Path, foreign: Foreign) -> None:
    before = all_rows(foreign())
    with open_admin(adopted) as admin:
        report = admin.verify()
        assert (report.length, report.findings) == (len(ROWS), ())
        assert admin.rebuild().clean
    assert all_rows(foreign()) == before
    assert unbroken(foreign()) == len(ROWS)


def test_every_later_attempt_is_answered_as_if_the_ledger_had_seen_the_win(
    adopted: Path, open_ledger: OpenLedger
) -> None:
    ledger, other = open_ledger(adopted), open_ledger(adopted, workspace=OTHER_WORKSPACE)
    assert ledger.winner(instance(0)) == response(10)
    assert other.winner(instance(0)) is None
    assert ledger.resolve(record(0, 10, 20)) == Replayed(response(10), own=True)
    assert len(ledger.history(instance(0))) == 1
    assert ledger.resolve(record(0, 10, 1)) == Replayed(response(10), own=False)
    assert ledger.resolve(record(0, 2, 2)) == Lost(response(10))
    for r, k, owner in ((3, 20, 10), (3, 2, 2), (3, 1, 10)):
        with pytest.raises(IdempotencyConflict) as conflict:
            ledger.resolve(record(0, r, k))
        assert conflict.value.existing == response(owner)
    with pytest.raises(OutsideWorkspace):
        other.resolve(record(0, 10, 20))
    assert ledger.resolve(record(0, 10, 20)) == Replayed(response(10), own=True)
    outcomes = ["adopted", "replayed", "lost", "conflicted", "conflicted", "conflicted"]
    assert [attempt.outcome for attempt in ledger.history(instance(0))] == outcomes
    assert [attempt.outcome for attempt in other.history(instance(0))] == ["fenced"]
    assert [loser.outcome for loser in ledger.losers()] == outcomes[:1:-1]
    assert other.resolve(record(1, 11, 21)) == Replayed(response(11), own=True)
    assert ledger.resolve(record(100, 1, 1)) == Won()
    assert ledger.history(instance(100))[0].outcome == "won"
    with open_admin(adopted) as admin:
        assert admin.verify().findings == ()
        assert admin.resolution(instance(1)) == other.history(instance(1))[0]
        assert [a.outcome for a in admin.state_at(len(ROWS))] == ["adopted"] * len(ROWS)


def test_a_checkpoint_holds_an_adopted_ledger_to_its_beginning(
    adopted: Path, open_ledger: OpenLedger, tmp_path: Path
) -> None:
    with open_admin(adopted) as admin:
        checkpoint = admin.checkpoint()
        open_ledger(adopted).resolve(record(0, 1, 1))
        assert admin.verify(checkpoint).clean
        grown = admin.checkpoint()
        assert grown.split("\n")[1] == str(len(ROWS) + 1)
    one_row_program.make_table(tmp_path / "again.db", ROWS)
    with open_admin(tmp_path / "again.db") as again:
        again.adopt()
        assert "checkpoint" in {finding.kind for finding in again.verify(checkpoint).findings}


def test_an_adopted_ledger_can_be_moved(
    adopted: Path, open_ledger: OpenLedger, tmp_path: Path
) -> None:
    ledger = open_ledger(adopted)
    ledger.resolve(record(0, 1, 1))
    ledger.resolve(record(100, 1, 1))
    first, again = BytesIO(), BytesIO()
    with open_admin(adopted) as admin, open_admin(tmp_path / "moved.db") as moved:
        checkpoint = admin.export(first)
        first.seek(0)
        assert moved.import_(first) == checkpoint == moved.checkpoint()
        assert moved.export(again) == checkpoint
        assert moved.verify(checkpoint).clean
        assert list(moved.attempts()) == list(admin.attempts())
    assert again.getvalue() == first.getvalue()
    there = open_ledger(tmp_path / "moved.db")
    assert there.resolve(record(0, 10, 20)) == Replayed(response(10), own=True)
    assert there.losers() == ledger.losers()


def test_an_older_table_without_any_row_can_be_adopted(
    tmp_path: Path, open_ledger: OpenLedger, foreign: Foreign
) -> None:
    path = tmp_path / "empty.db"
    one_row_program.make_table(path, [])
    with open_admin(path) as admin:
        assert admin.adopt() == 0
        assert admin.verify().clean
        with pytest.raises(NothingToAdopt):
            admin.adopt()
    with pytest.raises(sqlite3.IntegrityError, match="follows"):
        one_row_program.decide(foreign(path), 1, 1)
    assert open_ledger(path).resolve(record(1, 2, 2)) == Won()


def test_an_older_program_decides_until_its_table_is_adopted_and_not_after(
    path: Path, open_ledger: OpenLedger, foreign: Foreign
) -> None:
    """On the same connection: it need not be restarted to be stopped."""
    connection = foreign()
    assert one_row_program.decide(connection, 50, 1) is None
    assert one_row_program.decide(connection, 50, 2) == response(1).text
    with open_admin(path) as admin:
        assert admin.adopt() == len(ROWS) + 1
    for i in (51, 52):
        with pytest.raises(sqlite3.IntegrityError, match="follows resolution_events"):
            one_row_program.decide(connection, i, 1)
    assert one_row_program.decide(connection, 50, 2) == response(1).text
    assert one_row_program.decide(connection, 0, 1) == response(10).text
    ledger = open_ledger(path)
    assert ledger.resolve(record(50, 1, 1)) == Replayed(response(1), own=True)
    assert ledger.resolve(record(51, 2, 2)) == Won()
    assert one_row_program.decide(connection, 51, 1) == response(2).text
    assert len(one_row_program.table(connection)) == len(ROWS) + 2
    with open_admin(path) as admin:
        assert admin.verify().findings == ()
