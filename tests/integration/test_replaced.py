"""The file under an open ledger is moved, removed or replaced."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from inside import OpenLedger, database_of, kept_connections
from resolution_ledger import (
    Replayed,
    ResolutionError,
    ResolutionLedger,
    StoreUnavailable,
    Won,
)
from resolution_ledger.infra.sqlite import opening
from samples import instance, record, response

Call = Callable[[ResolutionLedger], object]

CALLS: dict[str, Call] = {
    "resolve": lambda ledger: ledger.resolve(record(2, 2, 2)),
    "resolve again": lambda ledger: ledger.resolve(record(1, 1, 1)),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
}

each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> ResolutionLedger:
    """A ledger in which response 1 won instance 1, with connections that write and read."""
    ledger = open_ledger()
    ledger.resolve(record(1, 1, 1))
    ledger.winner(instance(1))
    return ledger


def take_away(path: Path, to: Path | None = None) -> None:
    """Remove the database and what is beside it, or move it all."""
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        if file.exists():
            if to is None:
                file.unlink()
            else:
                file.rename(to.with_name(to.name + suffix))


@each_call
@pytest.mark.parametrize("how", ["removed", "moved"])
def test_where_the_file_is_gone_no_new_ledger_is_made(
    ledger: ResolutionLedger, path: Path, tmp_path: Path, how: str, call: Call
) -> None:
    take_away(path, tmp_path / "elsewhere.db" if how == "moved" else None)
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            call(ledger)
    assert not path.exists()


@each_call
def test_an_empty_file_in_its_place_is_no_ledger_and_stays_empty(
    ledger: ResolutionLedger, path: Path, call: Call
) -> None:
    take_away(path)
    path.touch()
    for _ in range(3):
        with pytest.raises(ResolutionError):
            call(ledger)
    assert path.read_bytes() == b""


def test_a_ledger_that_comes_back_works_again(
    ledger: ResolutionLedger, path: Path, tmp_path: Path
) -> None:
    take_away(path, tmp_path / "elsewhere.db")
    with pytest.raises(StoreUnavailable):
        ledger.resolve(record(2, 2, 2))
    take_away(tmp_path / "elsewhere.db", path)
    assert ledger.resolve(record(2, 2, 2)) == Won()
    assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)


def put_a_copy_in_its_place(path: Path, original: sqlite3.Connection) -> None:
    """Restore a backup over the ledger, as an operator would who has read how."""
    original.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copied = path.with_name("copy.db")
    with closing(sqlite3.connect(copied)) as copy:
        original.backup(copy)
    original.close()
    copied.replace(path)


@each_call
def test_a_restored_copy_of_the_same_ledger_works_after_one_error_at_most(
    ledger: ResolutionLedger,
    path: Path,
    foreign: Callable[..., sqlite3.Connection],
    call: Call,
) -> None:
    put_a_copy_in_its_place(path, foreign())
    with suppress(StoreUnavailable):
        call(ledger)
    assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
    assert ledger.resolve(record(3, 1, 1)) == Won()
    with closing(sqlite3.connect(path)) as restored:
        assert restored.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_one_error_is_enough_for_all_connections_that_read(
    ledger: ResolutionLedger, path: Path, foreign: Callable[..., sqlite3.Connection]
) -> None:
    database = database_of(ledger)
    database.read(lambda _: database.read(lambda _: None))
    assert len(kept_connections(ledger)) == 3  # two that read, one that writes
    put_a_copy_in_its_place(path, foreign())
    with pytest.raises(StoreUnavailable):
        ledger.winner(instance(1))
    assert ledger.winner(instance(1)) == response(1)


@each_call
def test_another_ledger_in_its_place_keeps_being_refused(
    ledger: ResolutionLedger, path: Path, tmp_path: Path, open_ledger: OpenLedger, call: Call
) -> None:
    other = tmp_path / "other.db"
    with open_ledger(other) as another:
        another.resolve(record(8, 8, 8))
    before = other.read_bytes()
    take_away(path)
    other.rename(path)
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            call(ledger)
    ledger.close()
    assert path.read_bytes() == before
    assert open_ledger().winner(instance(8)) == response(8)


def test_a_ledger_object_that_was_never_used_takes_what_is_there(
    path: Path, open_ledger: OpenLedger
) -> None:
    unused = open_ledger()
    with open_ledger() as ledger:
        ledger.resolve(record(1, 1, 1))
    take_away(path)
    assert unused.resolve(record(1, 2, 2)) == Won()


@each_call
def test_a_file_of_two_names_is_refused_since_each_name_has_a_log_of_its_own(
    ledger: ResolutionLedger, open_ledger: OpenLedger, path: Path, tmp_path: Path, call: Call
) -> None:
    other_name = tmp_path / "other.db"
    other_name.hardlink_to(path)
    for door in (ledger, open_ledger(), open_ledger(other_name)):
        with pytest.raises(StoreUnavailable, match="hard links"):
            call(door)
    other_name.unlink()
    call(ledger)


def test_a_path_means_what_the_system_says_it_means(
    ledger: ResolutionLedger, open_ledger: OpenLedger, tmp_path: Path
) -> None:
    ledger.close()
    elsewhere = tmp_path / "a" / "b"
    elsewhere.mkdir(parents=True)
    (tmp_path / "link").symlink_to(elsewhere)
    # Behind the link, ".." is a/, whatever the text of the path suggests.
    open_ledger(f"{tmp_path}/link/../ledger.db").resolve(record(5, 5, 5))
    assert (tmp_path / "a" / "ledger.db").exists()
    assert open_ledger().winner(instance(5)) is None


def test_a_file_that_vanishes_while_it_is_being_opened_is_not_made_anew(
    ledger: ResolutionLedger, path: Path, open_ledger: OpenLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.close()
    look = opening.file_identity

    def look_and_lose_it(target: str) -> object:
        seen = look(target)
        if path.exists():
            take_away(path)
        return seen

    monkeypatch.setattr(opening, "file_identity", look_and_lose_it)
    with pytest.raises(StoreUnavailable):
        open_ledger().winner(instance(1))
    assert not path.exists()
