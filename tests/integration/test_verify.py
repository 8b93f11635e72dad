"""Verify: the same findings however it reads, whoever writes meanwhile, and no change made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from inside import OpenLedger, all_rows, definitions
from integration.edits import ALL_EDITS, EDITS
from integration.tampering import (
    Specimen,
    edit,
    make_empty,
    make_ledger,
    removal,
    sequences,
)
from paging import read_by
from resolution_ledger import Closed, Finding, LedgerAdmin, Lost, Progress, Withdrawn, Won
from resolution_ledger.infra import runs
from resolution_ledger.projections import rules_audit
from samples import instance, record

LENGTH = 41


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """One for most of the tests, which damage it in turn."""
    path = tmp_path_factory.mktemp("verified") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


def some_edits(seed: int, count: int) -> list[str]:
    """Statements that each edit one event."""
    draw = Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    chosen = [(*draw.choice(ALL_EDITS), draw.randint(1, LENGTH)) for _ in range(count)]
    return [edit(column, EDITS[column][name], n) for column, name, n in chosen]


SEVERAL = [
    edit("topic", "'annulled'", 3),
    edit("state", "flip(state, 40)", 11),
    edit("originator_version", "'x'", 17),
    edit("originator_id", "x'ff'", 23),
    edit("hash", "5", 31),
    removal("resolution_events", "sequence IN (12, 13, 40)"),
    removal("interaction_resolutions", "rowid % 2"),
    removal("losing_attempts", "sequence % 3 = 0"),
    "UPDATE losing_attempts SET outcome = 'won' WHERE sequence % 5 = 0",
    "UPDATE closed_instances SET reason = 'annulled', closed_tick = 'noon'",
]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_the_findings_do_not_depend_on_how_much_is_read_at_once(
    ledger: Specimen, size: int
) -> None:
    """Neither after single edits nor after many."""
    for damage in ([], SEVERAL, *([statement] for statement in some_edits(4, 40))):
        expected = ledger.findings(*damage)
        with pytest.MonkeyPatch.context() as patch:
            read_by(patch, size)
            assert ledger.verify() == expected, damage


@pytest.mark.parametrize("long", [1, 3])
def test_every_edit_of_an_event_of_a_long_stream_is_found(
    ledger: Specimen, long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which no more than a few events are held in memory."""
    monkeypatch.setattr(rules_audit, "LONG", long)
    assert ledger.findings() == ()
    stream = f"originator_id = '{instance(0)}'"
    first, *_, last = ledger.column(f"SELECT sequence FROM resolution_events WHERE {stream}")  # noqa: S608
    assert isinstance(first, int)
    assert isinstance(last, int)
    missed = [
        (column, name, n)
        for column, name in ALL_EDITS
        for n in (first, last)
        if n not in sequences(ledger.findings(edit(column, EDITS[column][name], n)))
    ]
    assert missed == []


def test_a_long_stream_is_looked_at_without_the_index_that_was_dropped(
    ledger: Specimen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That index is what is found."""
    monkeypatch.setattr(rules_audit, "LONG", 2)
    ledger.damage()
    connection = ledger.connection
    ((text,),) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'resolution_events_by_fingerprint'"
    )
    connection.execute("DROP INDEX resolution_events_by_fingerprint")
    try:
        assert [finding.kind for finding in ledger.verify()] == ["guard"]
    finally:
        connection.execute(text)


@pytest.mark.parametrize("long", [2, 10_000])
def test_more_than_one_position_that_is_no_number_is_found(
    ledger: Specimen, long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them."""
    monkeypatch.setattr(rules_audit, "LONG", long)
    later = f"originator_id = '{instance(0)}' AND originator_version > 1"
    damaged = ledger.column(f"SELECT sequence FROM sound_resolution_events WHERE {later}")  # noqa: S608
    for value in ("originator_version || 'x'", "CAST(originator_version AS BLOB)"):
        statement = f"UPDATE resolution_events SET originator_version = {value} WHERE {later}"  # noqa: S608
        assert sequences(ledger.findings(statement)) >= set(damaged)


def test_a_ledger_under_another_name_is_found_by_its_first_event(ledger: Specimen) -> None:
    """None of its events was ever one of that ledger."""
    statement = "UPDATE resolution_ledger_meta SET ledger_id = lower(hex(randomblob(16)))"
    assert {(f.kind, f.sequence) for f in ledger.findings(statement)} == {("hash", 1)}


def test_verify_changes_nothing(ledger: Specimen) -> None:
    """Whatever it finds."""
    ledger.damage(*SEVERAL[:2], *SEVERAL[5:])
    connection = ledger.connection
    before = all_rows(connection), definitions(connection)
    version = connection.execute("PRAGMA data_version").fetchone()
    assert ledger.verify() == ledger.verify() != ()
    assert connection.execute("PRAGMA data_version").fetchone() == version
    assert (all_rows(connection), definitions(connection)) == before


def test_a_withdrawal_that_came_to_nothing_is_missed_at_the_end(path: Path) -> None:
    """By a checkpoint alone, at once: no read model has a row of it."""
    make_ledger(path, 9)
    with Specimen(path) as specimen:
        assert specimen.column("SELECT topic FROM resolution_events")[-1] == "withdrawal-lost"
        checkpoint = specimen.admin.checkpoint()
        specimen.damage(removal("resolution_events", "sequence = 9"))
        assert specimen.verify() == ()
        (finding,) = specimen.admin.verify(checkpoint).findings
    assert (finding.kind, finding.sequence) == ("checkpoint", 9)


def test_a_report_holds_so_many_findings_and_counts_all(
    ledger: Specimen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wants to see them all is told of each, in order."""
    expected = ledger.findings(*SEVERAL)
    assert len(expected) > 30
    told: list[Finding] = []
    for kept in (0, 1, 5, len(expected) - 1, len(expected)):
        monkeypatch.setattr(runs, "KEPT", kept)
        told.clear()
        for listener in (None, told.append):
            report = ledger.admin.verify(finding=listener)
            assert (report.findings, report.count) == (expected[:kept], len(expected))
            assert not report.clean
        assert tuple(told) == expected


def test_progress_is_told_up_to_the_end(ledger: Specimen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never backwards, and never past it."""
    for size in (1000, 3):
        read_by(monkeypatch, size)
        for damage in ([], SEVERAL[:5]):
            ledger.damage(*damage)
            told: list[Progress] = []
            ledger.admin.verify(progress=told.append)
            done = [progress.done for progress in told]
            assert done == sorted(done)
            assert {progress.total for progress in told} == {done[-1]}
            seconds = [progress.seconds for progress in told]
            assert seconds == sorted(seconds)
    assert len(told) > 3 * LENGTH / 3


def test_others_may_go_on_writing(
    path: Path, open_ledger: OpenLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step of it, to old instances and new ones; what came later is not looked at."""
    make_ledger(path, LENGTH)
    ledger = open_ledger(durability="normal")
    steps: list[Progress] = []
    written: list[object] = []

    def write(progress: Progress) -> None:
        steps.append(progress)
        n = len(steps)
        if n % 2 == 0:  # else it would never come to the end of what is written meanwhile
            to = (0, 4, 100 + n)[n % 3]  # one that was won, one that was closed, a new one
            if n % 4:
                written.append(ledger.resolve(record(to, 50 + n, 50 + n)))
            else:
                written.append(ledger.withdraw(instance(to), "expired"))

    for size in (1000, 1, 4):
        read_by(monkeypatch, size)
        with LedgerAdmin.open(path) as admin:
            before = admin.checkpoint()
            report = admin.verify(before, progress=write)
            assert (report.findings, f"{report.length}") == ((), before.splitlines()[1])
            assert admin.checkpoint() != before
    assert {type(answer) for answer in written} == {Won, Lost, Closed, Withdrawn}


def test_an_empty_ledger_is_sound(path: Path) -> None:
    """In a file, and in memory."""
    make_empty(path)
    for target in (path, ":memory:"):
        with LedgerAdmin.open(target) as admin:
            for _ in range(2):
                report = admin.verify(admin.checkpoint())
                assert (report.findings, report.count, report.length) == ((), 0, 0)
