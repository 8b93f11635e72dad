"""Workers for ``test_adoption_running``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from itertools import count
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from random import Random
from threading import BrokenBarrierError
from time import sleep

from inside import definitions
from integration import one_row_program
from integration.parts import kill_at_random
from integration.rebuilders import open_admin
from processes import PATIENCE
from resolution_ledger import NothingToAdopt

PAUSE = 0.003
"""Seconds between two decisions of an older program: SQLite lets nobody else in without any."""


def adopt_each(barrier: Barrier, paths: Iterable[str]) -> list[int | None]:
    """How many winners were adopted in each database; None where that was refused."""
    adopted = []
    for path in paths:
        barrier.wait()
        adopted.append(_adopt(path))
    return adopted


def _adopt(path: str) -> int | None:
    with open_admin(path) as admin:
        try:
            return admin.adopt()
        except NothingToAdopt:
            return None


def adopt_or_decide(barrier: Barrier, paths: Iterable[str], number: int) -> list[list[int]]:
    """Process 0 adopts after a while; the others are older programs until they are refused.

    Returns, for each database, which instances this process believes to have won, or, for
    process 0, how many winners it has adopted.
    """
    random = Random(number)  # noqa: S311 (nobody is to guess anything)
    told = []
    for path in paths:
        barrier.wait()
        if number == 0:
            sleep(random.uniform(0, 0.1))
            told.append([_adopt(path) or 0])
        else:
            told.append(_decide_until_refused(barrier, path, number))
    return told


def _decide_until_refused(barrier: Barrier, path: str, number: int) -> list[int]:
    won = []
    with closing(one_row_program.connect(path)) as connection:
        for i in count():
            try:
                if one_row_program.decide(connection, i, number) is None:
                    won.append(i)
            except sqlite3.IntegrityError:
                return won
            if barrier.broken:  # another process has failed, and will not adopt
                break
            sleep(PAUSE)
    raise BrokenBarrierError


def kill_adoptions(barrier: Barrier, paths: Iterable[Path], rows: int, longest: float) -> list[int]:
    """Kill an adoption of so many rows in each of the databases; how many were adopted then."""
    barrier.wait()
    random = Random(rows)  # noqa: S311 (nobody is to guess anything)
    return [_kill_adoption(random, longest, path, rows) for path in paths]


def _kill_adoption(random: Random, longest: float, path: Path, rows: int) -> int:
    winners = [one_row_program.row(i, 1, 1, i) for i in range(rows)]
    one_row_program.make_table(path, winners, journal=random.choice(["delete", "wal"]))
    before = older_state(path)

    def adopt_until_killed(begun: Event) -> None:
        with open_admin(path) as admin:
            begun.set()
            admin.adopt()
            sleep(PATIENCE)

    kill_at_random(random, longest, adopt_until_killed)
    if older_state(path) == before:
        with closing(one_row_program.connect(path)) as connection:
            assert one_row_program.decide(connection, rows, 1) is None
        with open_admin(path) as admin:
            assert admin.adopt() == rows + 1
        return 0
    with open_admin(path) as admin:
        assert admin.verify().findings == ()
        return sum(attempt.outcome == "adopted" for attempt in admin.attempts())


def older_state(path: Path | str) -> tuple[object, ...]:
    """All that is in the database of an older program that nobody has adopted."""
    with closing(one_row_program.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return one_row_program.table(connection), definitions(connection)
