"""An older copy of the ledger is put in place of its file while somebody waits or watches.

What was committed since the copy was taken is gone, and sequences are given once more: whoever went
on would miss events. Whoever meets the error first, everybody meets it.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from inside import OpenLedger
from integration.loops import open_async, run, until_somebody_waits
from listeners import see_that_nobody_listens, until_listening
from processes import PATIENCE
from resolution_ledger import (
    LedgerAdmin,
    ResolutionLedger,
    StoreError,
    StoreUnavailable,
)
from samples import instance, record

COPIED, LENGTH = 3, 6
"""Events of the copy, and of the ledger when the copy is put in its place."""


@pytest.fixture(autouse=True)
def threads() -> Iterator[ThreadPoolExecutor]:
    """For those who wait. Afterwards nobody does any more."""
    with ThreadPoolExecutor(20) as threads:
        yield threads
    see_that_nobody_listens()


@pytest.fixture
def copy(path: Path, open_ledger: OpenLedger) -> Path:
    """An older copy of the ledger at ``path``."""
    older = path.with_name("copy.db")
    with open_ledger(durability="normal") as ledger:
        for n in range(LENGTH):
            if n == COPIED:
                with closing(sqlite3.connect(path)) as connection:
                    connection.execute("VACUUM INTO ?", (str(older),))
            ledger.resolve(record(n, n, n))
    return older


@pytest.fixture(params=[0, 1], ids=["as long", "longer"])
def put_back(
    request: pytest.FixtureRequest, path: Path, copy: Path, open_ledger: OpenLedger
) -> Callable[[], None]:
    """Puts the copy in place of the ledger, and commits as many events to it as it lacks, or more.

    So whoever looks past the end of the log finds an event there, or as many as there were.
    """

    def put_back() -> None:
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        copy.replace(path)
        with open_ledger(durability="normal") as another:
            for n in range(COPIED, LENGTH + request.param):
                another.resolve(record(100 + n, n, n))

    return put_back


@pytest.fixture(params=["ledger", "admin"])
def door(
    request: pytest.FixtureRequest, path: Path, copy: Path, open_ledger: OpenLedger
) -> Iterator[ResolutionLedger | LedgerAdmin]:
    """The ledger, as its callers and its operator see it."""
    assert copy.exists()
    if request.param == "ledger":
        yield open_ledger()
        return
    with LedgerAdmin.open(path) as admin:
        yield admin


def let_somebody_meet_it(door: ResolutionLedger | LedgerAdmin) -> None:
    """Somebody else who reads through the same ledger object is told, and goes on."""
    with suppress(StoreUnavailable):
        door.history(instance(0))
    assert len(door.history(instance(0))) == 1


@pytest.mark.parametrize("first", ["whoever watches", "another reader"])
@pytest.mark.parametrize("read", [1, LENGTH], ids=["half way", "at the end"])
def test_a_watch_that_is_not_being_asked_meanwhile_ends(
    door: ResolutionLedger | LedgerAdmin, put_back: Callable[[], None], first: str, read: int
) -> None:
    watch = door.watch()
    assert [next(watch).sequence for _ in range(read)] == [*range(1, read + 1)]
    put_back()
    if first == "another reader":
        let_somebody_meet_it(door)
    told = []
    with pytest.raises(StoreUnavailable):
        told.extend(next(watch) for _ in range(2 * LENGTH))
    # What it had read already it may tell.
    assert [one.instance for one in told] == [instance(n) for n in range(read, LENGTH)][: len(told)]


@pytest.mark.parametrize("readers", [0, 8])
def test_a_watch_that_waits_meanwhile_ends(
    door: ResolutionLedger | LedgerAdmin,
    put_back: Callable[[], None],
    threads: ThreadPoolExecutor,
    readers: int,
) -> None:
    """Also if the thread that looks for all, or others who read, have met the error before."""
    waiting = [threads.submit(next, door.watch(LENGTH)) for _ in range(5)]
    until_listening(5)
    put_back()
    for done in [threads.submit(read_for_a_while, door) for _ in range(readers)]:
        done.result(PATIENCE)
    for one in waiting:
        with pytest.raises(StoreUnavailable, match="replaced"):
            one.result(PATIENCE)


def read_for_a_while(door: ResolutionLedger | LedgerAdmin) -> None:
    """Whatever comes of it."""
    for _ in range(20):
        with suppress(StoreError):
            door.history(instance(0))


@pytest.mark.parametrize("readers", [0, 8])
def test_a_wait_meanwhile_ends(
    path: Path,
    put_back: Callable[[], None],
    open_ledger: OpenLedger,
    threads: ThreadPoolExecutor,
    readers: int,
) -> None:
    ledger = open_ledger()
    waiting = [threads.submit(ledger.wait, instance(n)) for n in range(200, 205)]
    until_listening(5)
    put_back()
    for done in [threads.submit(read_for_a_while, ledger) for _ in range(readers)]:
        done.result(PATIENCE)
    for one in waiting:
        with pytest.raises(StoreUnavailable, match="replaced"):
            one.result(PATIENCE)
    assert path.exists()


@pytest.mark.parametrize("first", ["whoever watches", "another reader"])
@pytest.mark.parametrize("read", [1, LENGTH], ids=["half way", "at the end"])
def test_in_a_loop_a_watch_that_is_not_being_asked_meanwhile_ends(
    path: Path, put_back: Callable[[], None], first: str, read: int
) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            watch, told = ledger.watch(), []
            for _ in range(read):
                await anext(watch)
            put_back()
            if first == "another reader":
                with suppress(StoreUnavailable):
                    await ledger.winner(instance(0))
                assert await ledger.winner(instance(0)) is not None
            with pytest.raises(StoreUnavailable):  # noqa: PT012 (it comes sooner or later)
                async for attempt in watch:
                    told.append(attempt.instance)
                    assert len(told) < 2 * LENGTH
            assert told == [instance(n) for n in range(read, LENGTH)][: len(told)]

    run(ask())


@pytest.mark.parametrize("readers", [0, 8])
def test_in_a_loop_those_who_wait_and_watch_meanwhile_are_ended(
    path: Path, put_back: Callable[[], None], readers: int
) -> None:
    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.winner(instance(0))
            calls: list[Any] = [ledger.wait(instance(n)) for n in range(200, 205)]
            calls += [anext(ledger.watch(LENGTH)) for _ in range(5)]
            waiting = [asyncio.ensure_future(call) for call in calls]
            await until_somebody_waits(len(waiting))
            await asyncio.to_thread(put_back)
            await asyncio.gather(
                *(ledger.winner(instance(0)) for _ in range(readers)), return_exceptions=True
            )
            told = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(one) for one in told] == [StoreUnavailable] * len(told)

    run(ask())


def test_whoever_begins_afterwards_goes_on_with_the_copy(
    door: ResolutionLedger | LedgerAdmin, put_back: Callable[[], None]
) -> None:
    next(door.watch())
    put_back()
    let_somebody_meet_it(door)
    watch = door.watch(COPIED)
    told = [next(watch).instance for _ in range(COPIED, LENGTH)]
    assert told == [instance(100 + n) for n in range(COPIED, LENGTH)]


def test_the_same_file_under_the_same_name_again_ends_nobody(
    door: ResolutionLedger | LedgerAdmin, path: Path, open_ledger: OpenLedger
) -> None:
    """Whoever did not look meanwhile need not know."""
    watch = door.watch()
    for _ in range(LENGTH):
        next(watch)
    aside = path.with_name("aside.db")
    for source, target in ((path, aside), (aside, path)):
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                shutil.move(f"{source}{suffix}", f"{target}{suffix}")
    open_ledger().resolve(record(100, 1, 1))
    assert next(watch).instance == instance(100)
