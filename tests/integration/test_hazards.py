"""Hazards of the platform: what takes a process's locks from it, and that nothing of ours does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from inside import OpenLedger, own_connection
from integration import unlocking
from integration.watched import PLANTS, see_what_is_planted, use_everything
from processes import run_alone
from resolution_ledger import (
    AsyncResolutionLedger,
    LedgerAdmin,
    Lost,
    Replayed,
    ResolutionLedger,
    StoreUnavailable,
    Won,
)
from resolution_ledger.cli import cli
from samples import WORKSPACE, instance, record, response

posix = pytest.mark.skipif(os.name != "posix", reason="locks belong to descriptors here")


def public(door: type) -> list[str]:
    return sorted(name for name in dir(door) if not name.startswith("_"))


def test_nothing_of_ours_opens_a_ledgers_files_but_through_sqlite(tmp_path: Path) -> None:
    told: dict[str, Any] = run_alone(use_everything, str(tmp_path))
    assert told["seen"] == []
    assert told["looks"] > 0
    used = {door: sorted(set(names)) for door, names in told["used"].items()}
    assert used == {
        **{door.__name__: public(door)
           for door in (ResolutionLedger, AsyncResolutionLedger, LedgerAdmin)},
        "commands": sorted(cli.commands),
    }  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_if_it_did_that_would_be_seen(path: Path, plant: str) -> None:
    assert run_alone(see_what_is_planted, str(path), plant)


@posix
@pytest.mark.parametrize(
    ("suffix", "taken"), [(None, True), ("-shm", False)], ids=["left alone", "opened and closed"]
)
def test_to_close_one_of_the_files_drops_the_write_lock(
    path: Path, suffix: str | None, *, taken: bool
) -> None:
    assert run_alone(unlocking.hold_the_write_lock, str(path), suffix) is taken


@posix
@pytest.mark.parametrize(
    ("careless", "second"),
    [(False, Lost(response(1))), (True, Won())],
    ids=["left alone", "opened and closed"],
)
def test_to_open_and_close_the_database_makes_two_winners(
    path: Path, second: object, *, careless: bool
) -> None:
    """Whoever else closes it then takes itself for the last one, and removes the WAL in use."""
    assert run_alone(unlocking.win_after_a_visit, str(path), careless) == [Won(), second]


@posix
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nothing tells what is open here")
def test_the_connection_of_an_examination_crosses_no_fork(path: Path) -> None:
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()
    assert run_alone(unlocking.fork_while_a_ledger_is_examined, str(path)) == []


def refusal(ledger: ResolutionLedger, n: int) -> StoreUnavailable | None:
    try:
        ledger.resolve(record(n, 1, 1, "x" * 500))
    except StoreUnavailable as error:
        return error
    assert n < 1000, "it has room for ever"
    return None


def test_a_full_database_is_named_and_takes_no_answer_from_anybody(open_ledger: OpenLedger) -> None:
    ledger = open_ledger()
    ledger.resolve(record(1, 1, 1))
    with own_connection(ledger) as connection:
        ((pages,),) = connection.execute("PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count = {pages}")
        won = [1]
        full = None
        while full is None:
            full = refusal(ledger, won[-1] + 1)
            won += [won[-1] + 1] if full is None else []
        assert "database or disk is full" in str(full)
        assert [ledger.winner(instance(n)) for n in won] == [response(1)] * len(won)
        assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
        connection.execute("PRAGMA max_page_count = 1000000")
    assert ledger.resolve(record(won[-1] + 1, 1, 1)) == Won()
