"""How a ledger comes to be: by what writes or creates, once, whoever else is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from inside import OpenLedger, all_rows, definitions, files_in
from integration.creators import create_each, create_or_use
from processes import run_together
from resolution_ledger import (
    Lost,
    NotALedger,
    ResolutionLedger,
    StoreError,
    StoreUnavailable,
    Won,
)
from samples import instance, record, response

PROCESSES, LEDGERS = 4, 20

READS: dict[str, Callable[[ResolutionLedger], object]] = {
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
    "wait": lambda ledger: ledger.wait(instance(1), 0),
    "wait for ever": lambda ledger: ledger.wait(instance(1)),
    "watch": lambda ledger: next(ledger.watch()),
}

each_read = pytest.mark.parametrize("read", READS.values(), ids=READS)


def make_foreign_database(path: Path) -> None:
    """Another program's database, in the journal mode that SQLite starts with."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE theirs (what TEXT)")
        connection.execute("INSERT INTO theirs VALUES ('something')")


def make_empty_file(path: Path) -> None:
    """What ``mktemp`` leaves."""
    path.touch()


def make_nothing(_: Path) -> None:
    """No file at all."""


PLACES = [make_nothing, make_empty_file, make_foreign_database]


@pytest.mark.parametrize("make", PLACES)
def test_processes_that_create_a_ledger_at_the_same_moment_create_one(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    paths = [tmp_path / f"{n}.db" for n in range(LEDGERS)]
    for path in paths:
        make(path)
    told = run_together(create_each, [([*map(str, paths)], n) for n in range(PROCESSES)])
    for n, path in enumerate(paths):
        answers = [answers[n][0] for answers in told]
        winner = response(answers.index(Won()))
        assert answers.count(Lost(winner)) == PROCESSES - 1
        assert len({answers[n][1] for answers in told}) == 1
        with ResolutionLedger.open(path, workspace="ws-1") as ledger:
            assert len(ledger.history(instance(1))) == PROCESSES


def test_a_ledger_comes_to_be_in_a_database_that_others_use(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.db" for n in range(LEDGERS)]
    for path in paths:
        make_foreign_database(path)
    told = run_together(create_or_use, [([*map(str, paths)], n) for n in range(PROCESSES)])
    for path in paths:
        with closing(sqlite3.connect(path)) as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM theirs")
        assert count == 1 + PROCESSES // 2
    assert sum(answer == Won() for answers in told[::2] for answer, _ in answers) == LEDGERS


@each_read
def test_reading_where_there_is_nothing_is_an_error_and_creates_nothing(
    ledger: ResolutionLedger, tmp_path: Path, read: Callable[[ResolutionLedger], object]
) -> None:
    with pytest.raises(StoreUnavailable, match="no such file"):
        read(ledger)
    assert files_in(tmp_path) == {}


@each_read
@pytest.mark.parametrize("make", PLACES[1:])
def test_reading_where_there_is_no_ledger_is_an_error_and_leaves_the_file_alone(
    open_ledger: OpenLedger,
    path: Path,
    tmp_path: Path,
    make: Callable[[Path], None],
    read: Callable[[ResolutionLedger], object],
) -> None:
    make(path)
    before = files_in(tmp_path)
    with open_ledger() as ledger, pytest.raises(NotALedger, match="without a ledger"):
        read(ledger)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("make", PLACES)
def test_opening_a_ledger_touches_nothing(
    open_ledger: OpenLedger, path: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(path)
    before = files_in(tmp_path)
    open_ledger().close()
    assert files_in(tmp_path) == before


CREATING: dict[str, Callable[[ResolutionLedger], object]] = {
    "resolve": lambda ledger: ledger.resolve(record(2, 1, 1)),
    "withdraw": lambda ledger: ledger.withdraw(instance(2), "expired"),
    "create": lambda ledger: ledger.create(),
}


@pytest.mark.parametrize("create", CREATING.values(), ids=CREATING)
@pytest.mark.parametrize("make", PLACES)
def test_what_writes_creates_a_ledger_after_reading_has_failed(
    open_ledger: OpenLedger,
    path: Path,
    make: Callable[[Path], None],
    create: Callable[[ResolutionLedger], object],
) -> None:
    make(path)
    ledger = open_ledger()
    with pytest.raises(StoreError):
        ledger.winner(instance(1))
    create(ledger)
    assert ledger.winner(instance(1)) is None
    assert ledger.resolve(record(1, 1, 1)) == Won()
    assert ledger.winner(instance(1)) == response(1)


def test_to_create_a_ledger_that_is_there_changes_nothing(
    open_ledger: OpenLedger, path: Path, foreign: Callable[[], sqlite3.Connection]
) -> None:
    with open_ledger() as ledger:
        ledger.create()
        before = all_rows(foreign()), definitions(foreign())
        ledger.create()
    with open_ledger() as again:
        again.create()
        assert again.history(instance(1)) == ()
    assert (all_rows(foreign()), definitions(foreign())) == before
    assert len(before[0]["resolution_ledger_meta"]) == 1
    assert path.exists()


def test_what_is_in_the_database_already_stays(
    ledger: ResolutionLedger, path: Path, foreign: Callable[[], sqlite3.Connection]
) -> None:
    make_foreign_database(path)
    ledger.resolve(record(1, 1, 1))
    assert foreign().execute("SELECT * FROM theirs").fetchall() == [("something",)]


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_a_ledger_works_in_a_database_of_any_encoding_or_is_refused_there(
    ledger: ResolutionLedger, path: Path, encoding: str
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.execute("CREATE TABLE theirs (what TEXT)")
    try:
        assert ledger.resolve(record(1, 1, 1, "\u00e9\U0001f600")) == Won()
    except (NotALedger, StoreUnavailable):
        assert encoding != "UTF-8"
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        assert tables == [("theirs",)]
        return
    assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))
    assert ledger.history(instance(1))[0].submitted_by == "\u00e9\U0001f600"
