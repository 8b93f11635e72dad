"""Calls of several threads that are committed at once: each comes to what it would alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from processes import PATIENCE
from resolution_ledger import (
    InvalidTick,
    LedgerClosed,
    Lost,
    Replayed,
    ResolutionLedger,
    StoreBusy,
    StoreUnavailable,
    Withdrawn,
    Won,
)
from resolution_ledger.infra.database import Database
from resolution_ledger.infra.sqlite.connection import OpenConnection
from resolution_ledger.infra.sqlite.databases import open_database
from resolution_ledger.infra.store import EventStore
from samples import WORKSPACE, instance, record, response

WAITING = 8
LOCK_TIMEOUT = 0.5


class Shared:
    """A database for many threads, in which one of them can be stopped in the middle of a call."""

    def __init__(self, database: Any) -> None:
        self.database: Database = database
        self.ledger = self.open(time.time_ns)
        self.writer = database.writer
        self.commits = 0

    def open(self, clock: Callable[[], int]) -> ResolutionLedger:
        """A ledger object on the same connections, with a clock of its own."""
        return ResolutionLedger(EventStore(self.database, clock), WORKSPACE)

    @contextmanager
    def one_stopped(self, threads: ThreadPoolExecutor) -> Iterator[Future[Any]]:
        """In here, a thread stands between BEGIN and COMMIT; afterwards it goes on."""
        inside, go_on = Event(), Event()

        def clock() -> int:
            inside.set()
            assert go_on.wait(PATIENCE)
            return 0

        stopped = threads.submit(self.open(clock).resolve, record(0, 1, 1))
        assert inside.wait(PATIENCE)
        try:
            yield stopped
        finally:
            go_on.set()

    def wait_for(self, number: int) -> None:
        """Until so many calls wait for their turn."""
        until = time.monotonic() + PATIENCE
        while len(self.writer._waiting.calls) < number:  # noqa: SLF001 (nobody else can tell)
            assert time.monotonic() < until
            time.sleep(0.001)


@pytest.fixture(params=["memory", "file"])
def shared(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shared]:
    """A ledger that counts its commits."""
    target = ":memory:" if request.param == "memory" else str(tmp_path / "ledger.db")
    database = open_database(target, durability="full", lock_timeout=PATIENCE)
    shared = Shared(database)
    shared.ledger.create()
    commit = OpenConnection.commit

    def counted(connection: OpenConnection) -> None:
        shared.commits += 1
        commit(connection)

    monkeypatch.setattr(OpenConnection, "commit", counted)
    yield shared
    database.close()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(WAITING + 1) as threads:
        yield threads


def test_calls_that_wait_are_committed_at_once(shared: Shared, threads: ThreadPoolExecutor) -> None:
    with shared.one_stopped(threads) as stopped:
        calls = [
            threads.submit(shared.ledger.resolve, record(n, n, n)) for n in range(1, WAITING + 1)
        ]
        shared.wait_for(WAITING)
    assert stopped.result() == Won()
    assert [call.result() for call in calls] == [Won()] * WAITING
    assert shared.commits == 2
    sequences = [shared.ledger.history(instance(n))[0].sequence for n in range(1, WAITING + 1)]
    assert sorted(sequences) == list(range(2, WAITING + 2))


def test_of_answers_to_one_instance_the_first_that_waited_wins_and_the_others_are_told(
    shared: Shared, threads: ThreadPoolExecutor
) -> None:
    calls = []
    with shared.one_stopped(threads):
        for n in range(1, WAITING):
            calls.append(threads.submit(shared.ledger.resolve, record(5, n, n)))
            shared.wait_for(n)
        calls.append(threads.submit(shared.ledger.resolve, record(5, 1, 1)))
        shared.wait_for(WAITING)
    first, *others, again = [call.result() for call in calls]
    assert first == Won()
    assert others == [Lost(response(1))] * (WAITING - 2)
    assert again == Replayed(response(1), own=True)
    assert shared.commits == 2
    assert len(shared.ledger.history(instance(5))) == WAITING - 1


@pytest.mark.parametrize(
    ("clock", "error"),
    [(lambda: 1 // 0, ZeroDivisionError), (lambda: 2**63, InvalidTick)],
    ids=["a clock that fails", "a tick that is none"],
)
@pytest.mark.parametrize("place", [0, 1, WAITING - 1])
def test_one_that_fails_takes_nobody_with_it(
    shared: Shared,
    threads: ThreadPoolExecutor,
    clock: Callable[[], int],
    error: type[Exception],
    place: int,
) -> None:
    """Wherever it waits, the first place included, which leads."""
    faulty = shared.open(clock)
    calls = []
    with shared.one_stopped(threads):
        for n in range(WAITING):
            door = faulty if n == place else shared.ledger
            calls.append(threads.submit(door.resolve, record(n + 1, n, n)))
            shared.wait_for(n + 1)
    with pytest.raises(error):
        calls.pop(place).result()
    assert [call.result() for call in calls] == [Won()] * (WAITING - 1)
    assert shared.ledger.history(instance(place + 1)) == ()
    assert shared.ledger.resolve(record(place + 1, 9, 9)) == Won()
    log = [shared.ledger.history(instance(n)) for n in range(WAITING + 1)]
    assert sorted(a.sequence for history in log for a in history) == list(range(1, WAITING + 2))


def test_a_commit_that_fails_tells_each_and_each_can_be_made_again(
    shared: Shared, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = OpenConnection.commit

    def fail(connection: OpenConnection) -> None:
        if shared.commits < 1:
            commit(connection)
            return
        raise StoreUnavailable(connection.target, "the disk has gone", outcome_unknown=True)

    with monkeypatch.context() as patch:
        patch.setattr(OpenConnection, "commit", fail)
        with shared.one_stopped(threads) as stopped:
            calls = [
                threads.submit(shared.ledger.resolve, record(n, n, n))
                for n in range(1, WAITING + 1)
            ]
            shared.wait_for(WAITING)
        assert stopped.result() == Won()
        errors = [call.exception() for call in calls]
    assert [type(error) for error in errors] == [StoreUnavailable] * WAITING
    assert all(getattr(error, "outcome_unknown", False) for error in errors)
    assert len({id(error) for error in errors}) == WAITING
    for n in range(1, WAITING + 1):
        assert shared.ledger.resolve(record(n, n, n)) == Won()


def test_whoever_waits_too_long_is_told_so_and_is_not_on_record_later(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    database = open_database(
        str(tmp_path / "ledger.db"), durability="full", lock_timeout=LOCK_TIMEOUT
    )
    shared = Shared(database)
    shared.ledger.create()
    with shared.one_stopped(threads) as stopped:
        calls = [
            threads.submit(shared.ledger.resolve, record(n, n, n)) for n in range(1, WAITING + 1)
        ]
        for call in calls:
            with pytest.raises(StoreBusy):
                call.result()
    assert stopped.result() == Won()
    assert [shared.ledger.history(instance(n)) for n in range(1, WAITING + 1)] == [()] * WAITING
    database.close()


def test_a_retransmission_is_answered_while_another_thread_stands_in_the_middle(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    """It does not wait for those who write. (In memory, where reading takes turns, it does.)"""
    database = open_database(str(tmp_path / "ledger.db"), durability="full", lock_timeout=PATIENCE)
    shared = Shared(database)
    shared.ledger.resolve(record(1, 1, 1))
    shared.ledger.withdraw(instance(2), "expired")
    with shared.one_stopped(threads) as stopped:
        again = threads.submit(shared.ledger.resolve, record(1, 1, 1))
        assert again.result(PATIENCE) == Replayed(response(1), own=True)
        assert not stopped.done()
        shared.wait_for(0)
    assert len(shared.ledger.history(instance(1))) == 1
    database.close()


def test_a_main_thread_that_is_interrupted_leaves_the_others_to_be_done(
    shared: Shared, threads: ThreadPoolExecutor
) -> None:
    calls: list[Future[Any]] = []

    def interrupted() -> int:
        calls.extend(
            threads.submit(shared.ledger.withdraw, instance(n), "expired")
            for n in range(1, WAITING + 1)
        )
        shared.wait_for(WAITING)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shared.open(interrupted).resolve(record(0, 1, 1))
    assert [call.result(PATIENCE) for call in calls] == [Withdrawn()] * WAITING
    assert shared.ledger.history(instance(0)) == ()


def test_what_an_operator_writes_is_committed_alone(
    shared: Shared, threads: ThreadPoolExecutor
) -> None:
    with shared.one_stopped(threads):
        calls = []
        for n, write in enumerate([False, True, False], start=1):
            calls.append(
                threads.submit(shared.database.write, lambda _: "written")
                if write
                else threads.submit(shared.ledger.resolve, record(n, n, n))
            )
            shared.wait_for(n)
    assert [call.result() for call in calls] == [Won(), "written", Won()]
    assert shared.commits == 4


def test_whoever_waits_while_the_ledger_is_closed_is_told_what_is_on_record(
    tmp_path: Path, threads: ThreadPoolExecutor
) -> None:
    path = tmp_path / "ledger.db"
    shared = Shared(open_database(str(path), durability="full", lock_timeout=PATIENCE))
    with shared.one_stopped(threads) as stopped:
        calls = [threads.submit(shared.ledger.resolve, record(n, n, n)) for n in range(1, WAITING)]
        shared.wait_for(WAITING - 1)
        closing = threads.submit(shared.ledger.close)
        until = time.monotonic() + PATIENCE
        while not shared.database.closed:  # type: ignore[attr-defined]
            assert time.monotonic() < until
            time.sleep(0.001)
    closing.result(PATIENCE)
    assert stopped.result() == Won()
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        assert ledger.winner(instance(0)) == response(1)
        for n, call in enumerate(calls, start=1):
            on_record = ledger.winner(instance(n)) is not None
            if on_record:
                assert call.result() == Won()
            else:
                assert isinstance(call.exception(), LedgerClosed)
