"""To create a ledger that is there already: it takes no lock, and binds nobody to an empty one."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inside import OpenLedger, all_rows
from integration import limited
from integration.altering import CONTESTED, import_from, make_contested
from integration.exports import export_of, imported
from integration.loops import open_async, run
from listeners import until_listening
from processes import PATIENCE, run_alone
from resolution_ledger import (
    LedgerAdmin,
    Lost,
    Replayed,
    ResolutionLedger,
    StoreBusy,
    Won,
)
from samples import WORKSPACE, instance, record, response


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A file with the export of a ledger in which response 0 won instances 0 to 5."""
    make_contested(tmp_path / "source.db")
    file = tmp_path / "export.jsonl"
    file.write_bytes(b"".join(export_of(tmp_path / "source.db")))
    return file


def import_here(export: Path, path: Path) -> None:
    imported(export.read_bytes().splitlines(keepends=True), path)


def import_elsewhere(export: Path, path: Path) -> None:
    run_alone(import_from, str(export), str(path))


each_import = pytest.mark.parametrize("import_", [import_here, import_elsewhere])

Call = Callable[[ResolutionLedger], object]

FIRST_CALLS: dict[str, tuple[Call, object]] = {
    "win": (lambda ledger: ledger.resolve(record(100, 1, 1)), Won()),
    "lose": (lambda ledger: ledger.resolve(record(1, 4, 4)), Lost(response(0))),
    "again": (
        lambda ledger: ledger.resolve(record(0, 0, 0)),
        Replayed(response(0), own=True),
    ),
    "winner": (lambda ledger: ledger.winner(instance(0)), response(0)),
    "history": (lambda ledger: len(ledger.history(instance(0))), 3),
    "wait": (lambda ledger: ledger.wait(instance(0)), response(0)),
    "watch": (lambda ledger: next(ledger.watch()).instance, instance(0)),
    "create": (lambda ledger: ledger.create(), None),
}


@pytest.fixture(params=[1, 2], ids=["created", "created twice"])
def created(request: pytest.FixtureRequest, open_ledger: OpenLedger) -> ResolutionLedger:
    """An empty ledger, with the connections of whoever has just created it."""
    ledger = open_ledger()
    for _ in range(request.param):
        ledger.create()
    return ledger


@each_import
@pytest.mark.parametrize("first", FIRST_CALLS)
def test_who_created_an_empty_ledger_goes_on_with_what_is_imported_into_it(
    path: Path,
    created: ResolutionLedger,
    export: Path,
    import_: Callable[[Path, Path], None],
    first: str,
) -> None:
    import_(export, path)
    call, answer = FIRST_CALLS[first]
    assert call(created) == answer
    assert created.resolve(record(101, 1, 1)) == Won()
    assert created.winner(instance(5)) == response(0)
    assert [attempt.outcome for attempt in created.history(instance(5))] == ["won", "lost", "lost"]
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean


@each_import
def test_in_a_loop_it_is_the_same(
    path: Path, export: Path, import_: Callable[[Path, Path], None]
) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.create()
            await ledger.create()
            await asyncio.to_thread(import_, export, path)
            assert await ledger.resolve(record(1, 4, 4)) == Lost(response(0))
            assert await ledger.winner(instance(0)) == response(0)
            assert len(await ledger.history(instance(1))) == 4

    run(ask())


@each_import
def test_whoever_waits_and_watches_meanwhile_is_told_what_is_imported(
    path: Path, open_ledger: OpenLedger, export: Path, import_: Callable[[Path, Path], None]
) -> None:
    ledger = open_ledger()
    ledger.create()
    watch = ledger.watch()
    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(ledger.wait, instance(5))
        watching = threads.submit(lambda: [next(watch).sequence for _ in range(CONTESTED)])
        until_listening(2)
        import_(export, path)
        assert waiting.result(PATIENCE) == response(0)
        assert watching.result(PATIENCE) == [*range(1, CONTESTED + 1)]


@pytest.fixture(params=["IMMEDIATE", "EXCLUSIVE"])
def locked(
    request: pytest.FixtureRequest,
    open_ledger: OpenLedger,
    foreign: Callable[[], sqlite3.Connection],
) -> sqlite3.Connection:
    """Somebody else's connection, in the middle of a write on a ledger that is there."""
    with open_ledger() as ledger:
        ledger.resolve(record(1, 1, 1))
    connection = foreign()
    connection.execute(f"BEGIN {request.param}")
    return connection


def test_to_create_what_is_there_waits_for_no_lock(
    locked: sqlite3.Connection, open_ledger: OpenLedger
) -> None:
    """By whatever object, used or not."""
    for ledger in (open_ledger(lock_timeout=0), open_ledger()):
        for _ in range(2):
            ledger.create()
        assert locked.in_transaction
        assert ledger.winner(instance(1)) == response(1)
        ledger.create()


def test_to_create_what_is_not_there_waits_for_the_lock_and_gives_up(
    open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    """In a database of somebody else's."""
    connection = foreign()
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE theirs (x)")
    connection.execute("BEGIN IMMEDIATE")
    ledger = open_ledger(lock_timeout=0.05)
    with pytest.raises(StoreBusy):
        ledger.create()
    connection.execute("ROLLBACK")
    ledger.create()
    assert not any(all_rows(connection)["resolution_events"])


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that every user can enter, unlike those of pytest."""
    directory = Path(tempfile.mkdtemp(prefix="ledger-"))
    directory.chmod(0o777)
    yield directory
    shutil.rmtree(directory)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users of this kind here")
def test_a_ledger_that_may_only_be_read_is_there(shared: Path) -> None:
    """As long as somebody keeps it open, who may write: else not even SQLite can read it."""
    path = shared / "ledger.db"
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1))
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").chmod(0o444)
        with closing(sqlite3.connect(path)) as connection:
            before = all_rows(connection)
        told: Any = run_alone(limited.create_without_privileges, str(path))
        assert told == {"create": None, "winner": response(1), "resolve": "StoreUnavailable"}
        with closing(sqlite3.connect(path)) as connection:
            assert all_rows(connection) == before
