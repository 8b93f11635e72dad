"""Rebuilding while others write, rebuild too, or kill."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from chains import unbroken
from integration.parts import Part, play_together
from integration.rebuilders import (
    READ_MODELS,
    append_until,
    empty,
    fill,
    kill_rebuilds,
    open_admin,
    rebuild_again_and_again,
    rebuild_at_once,
)
from processes import run_together, spawning

BEFORE = range(10_000, 10_300)
"""Instances that are filled before anything else happens."""

WRITERS = range(3, 7)
"""Four processes, by the response that each gives to one instance after another. One closes."""

AFTER = range(20_000, 20_100)
"""Instances that are filled when all is over."""


@pytest.fixture
def filled(path: Path) -> Path:
    """Where a ledger is whose read models somebody has emptied."""
    fill(path, BEFORE)
    empty(path)
    return path


@pytest.mark.parametrize(
    ("part", "rounds"), [(rebuild_again_and_again, 10), (kill_rebuilds, 30)], ids=["end", "killed"]
)
def test_rebuilds_that_end_or_are_killed_do_no_harm_to_four_processes_that_write(
    filled: Path,
    foreign: Callable[[], sqlite3.Connection],
    part: Callable[..., None],
    rounds: int,
) -> None:
    """What was acknowledged before, meanwhile and afterwards is on record, and in the tables."""
    stop = spawning.Event()
    parts: list[Part] = [(append_until, stop, str(filled), n) for n in WRITERS]
    *written, _ = play_together([*parts, (part, stop, str(filled), rounds)])
    fill(filled, AFTER)
    told = sum(written, Counter())
    assert told["resolve", "Won"] > 0 < told["withdraw", "Withdrawn"]
    filling = [*BEFORE, *AFTER]
    closed = len([i for i in filling if i % 4 == 3])
    assert unbroken(foreign()) == 2 * len(filling) + told.total()
    assert {table: _rows(foreign(), table) for table in READ_MODELS} == {
        "interaction_resolutions": len(filling) - closed + told["resolve", "Won"],
        "losing_attempts": len(filling) + told["resolve", "Lost"] + told["resolve", "Closed"],
        "closed_instances": closed + told["withdraw", "Withdrawn"],
    }
    with open_admin(filled) as admin:
        assert admin.verify().clean


def test_rebuilds_in_two_processes_at_once_do_what_one_does(
    filled: Path, foreign: Callable[[], sqlite3.Connection]
) -> None:
    """Every row is mended by one of them. Where both have seen it, both may say so."""
    mended = run_together(rebuild_at_once, [(str(filled), n, 4) for n in range(2)])
    for counts in zip(*mended, strict=True):
        assert sum(counts) >= 2 * len(BEFORE)
    assert unbroken(foreign()) == 2 * len(BEFORE)
    with open_admin(filled) as admin:
        assert admin.rebuild().clean


def _rows(connection: sqlite3.Connection, table: str) -> int:
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
    return int(rows)
