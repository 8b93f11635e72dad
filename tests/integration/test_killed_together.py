"""Threads that are committed together, in processes that are killed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random

import pytest

from integration.winners_together import (
    die_copying_the_log,
    win_and_copy_until_killed,
    win_in_line_until_killed,
    win_until_killed,
)
from processes import PATIENCE, spawning
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import WORKSPACE, instance, response

KILLS, FAR = 8, 1_000_000

Worker = Callable[..., None]


class Doomed:
    """A process that wins, and what it has told."""

    _numbers = count()

    def __init__(self, path: Path, worker: Worker) -> None:
        self.told = spawning.SimpleQueue()
        first = next(self._numbers) * FAR
        self._process: BaseProcess = spawning.Process(
            target=worker, args=(str(path), first, self.told), daemon=True
        )
        self._process.start()

    def acknowledged(self, number: int) -> list[int]:
        """So many more."""
        numbers = []
        for _ in range(number):
            assert self.told._reader.poll(PATIENCE), "it does not win any more"  # noqa: SLF001
            numbers.append(self.told.get())
        return numbers

    def rest(self) -> list[int]:
        """All that a process told that is about to end by itself."""
        self._process.join(PATIENCE)
        assert not self._process.is_alive()
        numbers = []
        while not self.told.empty():
            numbers.append(self.told.get())
        return numbers

    def kill(self) -> None:
        """In the middle of whatever it does."""
        self._process.kill()
        self._process.join(PATIENCE)
        assert not self._process.is_alive()
        self.told.close()


def see_that_they_are_on_record(path: Path, acknowledged: list[int]) -> None:
    """All of them, and nothing is wrong."""
    assert len(set(acknowledged)) == len(acknowledged)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        assert [ledger.winner(instance(n)) for n in acknowledged] == list(
            map(response, acknowledged)
        )
    with LedgerAdmin.open(path) as admin:
        report = admin.verify()
        assert report.clean, report.findings
        assert report.length >= len(acknowledged)


@pytest.mark.parametrize("worker", [win_until_killed, win_and_copy_until_killed])
def test_what_was_acknowledged_before_a_process_was_killed_is_on_record(
    path: Path, worker: Worker
) -> None:
    """Each process goes on where the one before was killed, in the middle of whatever it did."""
    draw = Random(0)  # noqa: S311 (a reproducible draw, no secret)
    acknowledged: list[int] = []
    for _ in range(KILLS):
        process = Doomed(path, worker)
        acknowledged += process.acknowledged(draw.randrange(1, 120))
        process.kill()
    see_that_they_are_on_record(path, acknowledged)


def test_what_was_acknowledged_before_one_of_several_in_line_was_killed_is_on_record(
    path: Path,
) -> None:
    """At the gate, behind it, or inside: the others go on."""
    draw = Random(1)  # noqa: S311 (as above)
    acknowledged: list[int] = []
    processes = [Doomed(path, win_in_line_until_killed) for _ in range(3)]
    for _ in range(KILLS):
        for process in processes:
            acknowledged += process.acknowledged(draw.randrange(1, 40))
        processes.pop(draw.randrange(3)).kill()
        processes.append(Doomed(path, win_in_line_until_killed))
    for process in processes:
        process.kill()
    see_that_they_are_on_record(path, acknowledged)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_what_was_acknowledged_when_a_process_died_copying_the_log_is_on_record(
    path: Path, *, after: bool
) -> None:
    acknowledged: list[int] = []
    for _ in range(2):
        process = Doomed(path, partial(die_copying_the_log, after=after))
        acknowledged += process.rest()
    assert acknowledged
    see_that_they_are_on_record(path, acknowledged)
