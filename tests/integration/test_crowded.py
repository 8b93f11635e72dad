"""Many threads of a process at one ledger object, beside other processes and across forks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from integration import crowded
from integration.racing import as_it_comes, race
from processes import run_alone
from resolution_ledger import (
    LedgerAdmin,
    ResolutionLedger,
    StoreBusy,
)
from resolution_ledger.infra.sqlite.databases import FileDatabase, open_database
from samples import record, response

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")


@pytest.mark.parametrize(("processes", "instances"), [(2, 150), (8, 50), (32, 10)])
def test_of_the_threads_of_several_processes_exactly_one_wins_each_instance(
    path: Path, ledger: ResolutionLedger, processes: int, instances: int
) -> None:
    ledger.create()
    race(path, 4, range(instances), [as_it_comes] * processes)


@forking
def test_where_a_process_forks_while_its_threads_resolve_both_go_on(path: Path) -> None:
    won, wrong = run_alone(crowded.fork_among_threads, str(path))
    assert wrong == []
    with LedgerAdmin.open(path) as admin:
        report = admin.verify()
        assert [one.outcome for one in admin.attempts()] == ["won"] * won
    assert report.clean


@forking
def test_a_call_that_waits_while_its_process_forks_is_made_in_both(path: Path) -> None:
    """Whichever is first wins."""
    told = run_alone(crowded.fork_while_the_call_waits, str(path), True)  # noqa: FBT003
    assert sorted(told) == ["Replayed", "Won"]


@forking
def test_a_call_that_waits_for_a_thread_that_a_fork_leaves_stuck_ends_in_the_child(
    path: Path,
) -> None:
    told = run_alone(crowded.fork_while_the_call_waits, str(path), False)  # noqa: FBT003
    assert told == ["Won", "StoreUnavailable"]


@forking
def test_a_child_of_a_process_in_whose_loop_somebody_waits_wakes_nobody_there(path: Path) -> None:
    told = run_alone(crowded.fork_inside_a_loop, str(path))
    assert told == {
        "child": [0, False, "Won", True, 0],
        "parent": [response(1), 1, response(2)],
    }


def test_where_all_connections_are_in_use_a_call_without_time_is_busy_until_one_is_free(
    path: Path, ledger: ResolutionLedger
) -> None:
    ledger.resolve(record(1, 1, 1))
    database = open_database(str(path), durability="full", lock_timeout=0)
    assert isinstance(database, FileDatabase)
    busy: list[int] = []

    def deeper(depth: int) -> None:
        try:
            database.read(lambda _: deeper(depth + 1), timeout=0)
        except StoreBusy:
            busy.append(depth)

    for _ in range(3):
        deeper(0)
        assert database.read(lambda session: session.head_sequence(), timeout=0) == 1
    assert busy == [32] * 3
    database.close()
