"""Ledger objects at one path share the connection that writes, and nothing else."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inside import OpenLedger
from integration import forking, sharers
from integration.rebuilders import drop
from integration.standing import one_inside, until_waiting
from processes import PATIENCE, run_alone
from resolution_ledger import (
    LedgerAdmin,
    Lost,
    OutsideWorkspace,
    ResolutionLedger,
    StoreUnavailable,
    Won,
)
from resolution_ledger.infra.sqlite.connection import OpenConnection
from samples import OTHER_WORKSPACE, instance, record

WAITING = 4


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2 * WAITING + 2) as threads:
        yield threads


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[OpenConnection]:
    """On which connection each commit was made."""
    made: list[OpenConnection] = []
    commit = OpenConnection.commit

    def counted(connection: OpenConnection) -> None:
        made.append(connection)
        commit(connection)

    monkeypatch.setattr(OpenConnection, "commit", counted)
    return made


def test_those_of_one_durability_at_one_path_write_through_one_connection(
    open_ledger: OpenLedger, commits: list[OpenConnection]
) -> None:
    for n, options in enumerate(
        [{}, {"workspace": OTHER_WORKSPACE}, {"lock_timeout": 0}, {"clock": lambda: 7}]
    ):
        assert open_ledger(**options).resolve(record(n, 1, 1)) == Won()
    assert len(commits) == 4
    assert len({*map(id, commits)}) == 1


@pytest.mark.parametrize("which", ["durability", "path", "link", "operator"])
def test_others_write_through_a_connection_of_their_own(
    path: Path, tmp_path: Path, open_ledger: OpenLedger, commits: list[OpenConnection], which: str
) -> None:
    assert open_ledger().resolve(record(1, 1, 1)) == Won()
    if which == "durability":
        open_ledger(durability="normal").resolve(record(2, 1, 1))
    elif which == "path":
        open_ledger(tmp_path / "another.db").resolve(record(2, 1, 1))
    elif which == "link":
        (tmp_path / "link.db").symlink_to(path)
        open_ledger(tmp_path / "link.db").resolve(record(2, 1, 1))
    else:
        drop(path)
        with LedgerAdmin.open(path) as admin:
            admin.rebuild()
    assert len({*map(id, commits)}) == 2


def test_what_waits_is_committed_at_once_each_with_the_clock_and_workspace_of_its_own(
    path: Path,
    open_ledger: OpenLedger,
    threads: ThreadPoolExecutor,
    commits: list[OpenConnection],
) -> None:
    ledgers = [
        open_ledger(clock=lambda n=n: 100 + n, workspace=f"ws-{n % 2}", lock_timeout=PATIENCE)
        for n in range(WAITING)
    ]
    with one_inside(open_ledger, threads, workspace="ws-0") as inside:
        calls = [
            threads.submit(ledger.resolve, record(n + 1, n, n)) for n, ledger in enumerate(ledgers)
        ]
        until_waiting(ledgers[0], WAITING)
        calls.append(threads.submit(ledgers[0].resolve, record(4, 9, 9)))
        until_waiting(ledgers[0], WAITING + 1)
    assert inside.result() == Won()
    assert [call.result() for call in calls[:-1]] == [Won()] * WAITING
    assert isinstance(calls[-1].exception(), OutsideWorkspace)
    assert len(commits) == 2
    with LedgerAdmin.open(path) as admin:
        attempts = [one for one in admin.attempts() if one.outcome == "won"]
        assert admin.verify().clean
    assert {(one.workspace, one.tick, one.instance) for one in attempts} == {
        ("ws-0", 0, instance(0)),
        *((f"ws-{n % 2}", 100 + n, instance(n + 1)) for n in range(WAITING)),
    }


def test_a_ledger_in_the_place_of_another_is_refused_by_those_who_knew_that_and_by_nobody_else(
    path: Path, tmp_path: Path, open_ledger: OpenLedger
) -> None:
    """While both are there, they share a connection, to the ledger that is there."""
    knew, knew_too = open_ledger(), open_ledger()
    knew.resolve(record(1, 1, 1))
    knew_too.resolve(record(1, 2, 2))
    with open_ledger(tmp_path / "another.db") as another:
        another.resolve(record(9, 9, 9))
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"{path.name}{suffix}").unlink()
    (tmp_path / "another.db").replace(path)
    later = open_ledger()
    for n in range(3):
        assert later.resolve(record(10 + n, 1, 1)) == Won()
        for old in (knew, knew_too):
            with pytest.raises(StoreUnavailable):
                old.resolve(record(20 + n, 1, 1))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM resolution_events").fetchone() == (4,)


def test_a_clock_that_fails_or_is_interrupted_fails_for_one_alone(
    open_ledger: OpenLedger, threads: ThreadPoolExecutor
) -> None:
    """Whether it is that of a call among many, or that of the main thread, which leads."""
    going_on = open_ledger(lock_timeout=PATIENCE)
    fails = open_ledger(clock=lambda: 1 // 0, lock_timeout=PATIENCE)
    calls: list[Future[Any]] = []

    def interrupted() -> int:
        for n in range(1, 2 * WAITING + 1):
            ledger = (fails, going_on)[n % 2]
            calls.append(threads.submit(ledger.resolve, record(n, n, n)))
            until_waiting(going_on, n)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_ledger(clock=interrupted, lock_timeout=PATIENCE).resolve(record(0, 1, 1))
    assert [call.result(PATIENCE) for call in calls[::2]] == [Won()] * WAITING
    assert [type(call.exception(PATIENCE)) for call in calls[1::2]] == [ZeroDivisionError] * WAITING
    assert [len(going_on.history(instance(n))) for n in range(2 * WAITING + 1)] == [
        n % 2 for n in range(2 * WAITING + 1)
    ]


def test_a_clock_that_writes_through_another_one_gives_up_instead_of_waiting_for_itself(
    open_ledger: OpenLedger,
) -> None:
    other = open_ledger(lock_timeout=PATIENCE)
    told: list[str | None] = []

    def clock() -> int:
        told.append(forking.failure_of(lambda: other.resolve(record(2, 2, 2))))
        return 0

    assert open_ledger(clock=clock).resolve(record(1, 1, 1)) == Won()
    assert told == ["StoreBusy"]
    assert other.resolve(record(2, 2, 2)) == Won()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("scenario", [sharers.fork_with_both_used, sharers.fork_while_both_resolve])
def test_after_a_fork_parent_and_child_never_both_win(
    path: Path, ledger: ResolutionLedger, scenario: Callable[..., Any]
) -> None:
    told = run_alone(scenario, str(path))
    for place, n in enumerate(sharers.RACED):
        winner = ledger.winner(instance(n))
        assert sorted(type(answers[place]).__name__ for answers in told) == [
            *["Lost"] * (len(told) - 1),
            "Won",
        ]
        assert [answers[place] for answers in told].count(Lost(winner)) == len(told) - 1  # type: ignore[arg-type]
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
