"""Processes of several threads that race for instances, at the gate, without one, or as may be."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path

from integration.crowded import open_at
from processes import Answers, run_together
from resolution_ledger import LedgerAdmin, Lost, ResolutionLedger, Won
from resolution_ledger.infra.sqlite import gate
from resolution_ledger.infra.sqlite.line import Line
from samples import WORKSPACE, instance, record, response


def as_it_comes() -> None:
    """Nothing is to be different."""


def have_no_gate() -> None:
    """From now on, this process is on a system that has no such lock."""
    gate.fcntl = None  # type: ignore[assignment]


def line_up() -> None:
    """From now on, this process lines up for every transaction."""
    Line.begin_at_once = lambda *_: False  # type: ignore[method-assign]


def resolve_in_threads(
    barrier: Barrier,
    path: str,
    responses: Sequence[int],
    instances: Sequence[int],
    prepare: Callable[[], None],
) -> list[Answers]:
    """What each of the threads is told: there is one for each response, which it gives to all."""
    prepare()
    with open_at(path) as ledger, ThreadPoolExecutor(len(responses)) as threads:
        barrier.wait()

        def resolve(own: int) -> Answers:
            return [ledger.resolve(record(n, own, own)) for n in instances]

        return list(threads.map(resolve, responses))


def race(
    path: Path, threads: int, instances: Sequence[int], processes: Sequence[Callable[[], None]]
) -> None:
    """Have processes of so many threads race for instances, each prepared as is said; and look."""
    told = run_together(
        resolve_in_threads,
        [
            (str(path), range(n * threads, (n + 1) * threads), instances, prepare)
            for n, prepare in enumerate(processes)
        ],
    )
    see_that_one_won_each(path, [one for process in told for one in process], instances)


def see_that_one_won_each(path: Path, told: list[Answers], instances: Sequence[int]) -> None:
    """Thread ``n`` gave response ``n`` to each. One won, all others were told which; no more."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        for place, n in enumerate(instances):
            winner = ledger.winner(instance(n))
            assert winner is not None
            answers = [answers[place] for answers in told]
            assert Counter(answers) == Counter([Won(), *[Lost(winner)] * (len(told) - 1)])
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
