"""Processes of several threads that race for instances, at the gate, without one, or as may be."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path

from integration.crowded import open_at
from processes import Answers
from resolution_ledger import LedgerAdmin, Lost, ResolutionLedger, Won
from resolution_ledger.infra.sqlite import gate
from resolution_ledger.infra.sqlite.line import Line
from samples import WORKSPACE, instance, record, response


def have_no_gate() -> None:
    """From now on, this process is on a system that has no such lock."""
    gate.fcntl = None  # type: ignore[assignment]


def never_find_the_lock_free() -> None:
    """From now on, this process lines up for every transaction."""
    Line.begin_at_once = lambda *_: False  # type: ignore[method-assign]


def resolve_in_threads(
    barrier: Barrier, path: str, number: int, threads: int, instances: Sequence[int], gated: bool
) -> list[Answers]:  # fmt: skip
    """What each of the threads is told, all of which answer all instances, in one process.

    :param gated: whether the process has a gate; then it lines up there each time.
    """
    (never_find_the_lock_free if gated else have_no_gate)()
    with open_at(path) as ledger, ThreadPoolExecutor(threads) as pool:
        barrier.wait()

        def resolve(thread: int) -> Answers:
            own = number * threads + thread
            return [ledger.resolve(record(n, own, own)) for n in instances]

        return list(pool.map(resolve, range(threads)))


def see_that_one_won_each(path: Path, told: list[Answers], instances: Sequence[int]) -> None:
    """Thread ``n`` gave response ``n`` to each. One won, all others were told which; no more."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        for place, n in enumerate(instances):
            winner = ledger.winner(instance(n))
            assert winner is not None
            answers = [answers[place] for answers in told]
            assert Counter(answers) == {Won(): 1, Lost(winner): len(told) - 1} or len(told) == 1
            assert response(answers.index(Won())) == winner
            history = ledger.history(instance(n))
            assert [one.position for one in history] == [*range(1, len(told) + 1)]
            assert {one.response for one in history} == {*map(response, range(len(told)))}
    see_that_it_is_sound(path, len(instances) * len(told))


def see_that_it_is_sound(path: Path, length: int) -> None:
    """So many events, and nothing wrong with them."""
    with LedgerAdmin.open(path) as admin:
        report = admin.verify()
    assert report.clean, report.findings
    assert report.length == length


def has_gate_file(path: Path) -> bool:
    """Whether anybody has ever made an ordinary file there."""
    return os.path.isfile(f"{path}{gate.SUFFIX}")
