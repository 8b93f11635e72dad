"""Migrations: they happen once, end where a fresh schema begins, and stop older code."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from inside import OpenLedger, all_rows, definitions
from integration.migrations import (
    NEW,
    OLD,
    newer_version,
    resolve_with_newer_version,
    version,
)
from processes import Answers, run_together
from resolution_ledger import (
    CorruptLedger,
    Lost,
    Replayed,
    ResolutionLedger,
    SchemaTooNew,
    Won,
)
from resolution_ledger.infra.sqlite import recognition, schema
from samples import instance, record, response

Call = Callable[[ResolutionLedger], object]

CALLS: dict[str, Call] = {
    "win": lambda ledger: ledger.resolve(record(2, 2, 2)),
    "lose": lambda ledger: ledger.resolve(record(1, 5, 5)),
    "close": lambda ledger: ledger.withdraw(instance(3), "expired"),
    "withdraw": lambda ledger: ledger.withdraw(instance(1), "expired"),
    "retransmit": lambda ledger: ledger.resolve(record(1, 1, 1)),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
}

each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> ResolutionLedger:
    """A ledger of the version under test; response 1 won instance 1."""
    ledger = open_ledger()
    ledger.resolve(record(1, 1, 1))
    return ledger


def test_a_fresh_ledger_has_the_newest_version(
    ledger: ResolutionLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    assert ledger.winner(instance(1)) == response(1)
    assert version(foreign()) == OLD == len(schema.MIGRATIONS)


@each_call
def test_whoever_comes_first_with_newer_code_migrates_the_ledger(
    ledger: ResolutionLedger,
    open_ledger: OpenLedger,
    foreign: Callable[[], sqlite3.Connection],
    call: Call,
) -> None:
    ledger.close()
    before = all_rows(foreign())
    with newer_version(), open_ledger() as newer:
        call(newer)
        assert newer.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
    assert version(foreign()) == NEW
    after = all_rows(foreign())
    for table in before.keys() - {"resolution_ledger_meta"}:
        assert set(after[table]) >= set(before[table])


@pytest.mark.parametrize("start", range(1, OLD + 1))
def test_a_migrated_schema_equals_a_fresh_one(tmp_path: Path, start: int) -> None:
    with newer_version():
        connections = [sqlite3.connect(tmp_path / name) for name in ("migrated", "fresh")]
        with closing(connections[0]) as migrated, closing(connections[1]) as fresh:
            for number in range(start):
                schema.MIGRATIONS[number](migrated)
            schema.migrate(migrated, start)
            schema.migrate(fresh, 0)
            assert definitions(migrated) == definitions(fresh)
            assert version(migrated) == version(fresh) == NEW
            for connection in (migrated, fresh):
                assert recognition.version_of(connection, "here") == NEW


def test_processes_that_migrate_at_once_migrate_once(
    tmp_path: Path, open_ledger: OpenLedger, foreign: Callable[[Path], sqlite3.Connection]
) -> None:
    paths = [tmp_path / f"{n}.db" for n in range(20)]
    for path in paths:
        with open_ledger(path) as ledger:
            ledger.resolve(record(1, 1, 1))
    told: list[Answers] = run_together(
        resolve_with_newer_version, [([*map(str, paths)], n) for n in (2, 3, 4)]
    )
    assert told == [[Lost(response(1))] * len(paths)] * 3
    assert [version(foreign(path)) for path in paths] == [NEW] * len(paths)


def test_a_migration_that_comes_while_another_process_opens_the_ledger_does_no_harm(
    ledger: ResolutionLedger, open_ledger: OpenLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.close()
    look, in_between = recognition.shapes, []  # the first of the looks at the schema

    def look_and_be_overtaken(connection: sqlite3.Connection) -> object:
        seen = look(connection)
        if not in_between:
            in_between.append(open_ledger(durability="normal"))  # on a connection of its own
            in_between[0].resolve(record(1, 2, 2))
        return seen

    with newer_version():
        monkeypatch.setattr(recognition, "shapes", look_and_be_overtaken)
        assert open_ledger().resolve(record(1, 3, 3)) == Lost(response(1))
        assert len(in_between[0].history(instance(1))) == 3


def test_threads_that_migrate_at_once_migrate_once(
    ledger: ResolutionLedger, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    ledger.close()
    start = Barrier(4, timeout=60)

    def resolve(n: int) -> object:
        newer = open_ledger(lock_timeout=60.0)
        start.wait()
        return newer.resolve(record(1, n, n))

    with newer_version(), ThreadPoolExecutor(4) as threads:
        assert list(threads.map(resolve, range(2, 6))) == [Lost(response(1))] * 4
    assert version(foreign()) == NEW


@each_call
@pytest.mark.parametrize("opened", ["before", "after"])
def test_older_code_stops_in_its_next_call_after_a_migration(
    path: Path, ledger: ResolutionLedger, open_ledger: OpenLedger, opened: str, call: Call
) -> None:
    ledger.winner(instance(1))  # so that it has a connection that reads, too
    run_together(resolve_with_newer_version, [([str(path)], 2)])
    older = ledger if opened == "before" else open_ledger()
    for _ in range(2):
        with pytest.raises(SchemaTooNew) as error:
            call(older)
        assert (error.value.found, error.value.known) == (NEW, OLD)
    ledger.close()
    with newer_version(), open_ledger() as newer:
        assert len(newer.history(instance(1))) == 2
        assert newer.history(instance(2)) == ()


def test_a_migration_that_fails_leaves_the_ledger_as_it_was(
    ledger: ResolutionLedger, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    ledger.close()
    before = all_rows(foreign()), definitions(foreign())

    def fail(connection: sqlite3.Connection) -> None:
        # Called for the ledger and, to know the shape of things to come, on an empty database.
        if connection.execute("SELECT count(*) FROM resolution_events").fetchone() == (1,):
            connection.execute("CREATE TABLE half (way)")
            raise KeyboardInterrupt

    with newer_version(fail), open_ledger() as newer, pytest.raises(KeyboardInterrupt):
        newer.resolve(record(2, 2, 2))
    assert (all_rows(foreign()), definitions(foreign())) == before
    assert open_ledger().resolve(record(2, 2, 2)) == Won()


def test_what_made_a_migration_fail_is_told_even_if_the_transaction_has_ended(
    ledger: ResolutionLedger, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    ledger.close()
    foreign().execute(
        "CREATE TRIGGER theirs BEFORE UPDATE ON resolution_ledger_meta"
        " BEGIN SELECT RAISE(ROLLBACK, 'not while I am here'); END"
    )
    with (
        newer_version(),
        open_ledger() as newer,
        pytest.raises(CorruptLedger, match="not while I am here"),
    ):
        newer.resolve(record(2, 2, 2))
    assert version(foreign()) == OLD
