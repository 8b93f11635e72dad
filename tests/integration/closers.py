"""Workers that close instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Any

from processes import PATIENCE, spawning
from resolution_ledger import OutsideWorkspace, ResolutionLedger
from resolution_ledger.domain.records import Reason
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record
from submissions import Outcome, Submission, submit


def settle_each(
    barrier: Barrier, path: str, number: int | None, instances: Iterable[int]
) -> list[Outcome]:
    """Answer each instance with the response and key of this number; without one, close it.

    All at the same moment, through a fresh ledger object for every call. But of every ten
    instances, one is closed before anybody answers, and one after everybody has.
    """
    told: list[Outcome] = []
    for n in instances:
        barrier.wait()
        behind = n % 10 == (1 if number is None else 0)
        if behind:
            barrier.wait()
        with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE) as ledger:
            if number is None:
                told.append(ledger.withdraw(instance(n), "expired", "timer"))
            else:
                told.append(ledger.resolve(record(n, number, number)))
        if not behind:
            barrier.wait()
    return told


def settle_in_threads(
    barrier: Barrier, path: str, numbers: Sequence[int | None], instances: Iterable[int]
) -> list[list[Outcome]]:
    """As above, at no particular moment, in a process that has a thread for each number."""
    with (
        ResolutionLedger.open(
            path, workspace=WORKSPACE, durability="normal", lock_timeout=PATIENCE
        ) as ledger,
        ThreadPoolExecutor(len(numbers)) as threads,
    ):
        barrier.wait()

        def settle(number: int | None) -> list[Outcome]:
            return [
                ledger.withdraw(instance(n), "expired", "timer")
                if number is None
                else ledger.resolve(record(n, number, number))
                for n in instances
            ]

        return list(threads.map(settle, numbers))


def withdraw_each(
    barrier: Barrier, path: str, reason: Reason, instances: Iterable[int]
) -> list[Outcome]:
    """Close each instance, through a fresh ledger object for every call."""
    told: list[Outcome] = []
    for n in instances:
        barrier.wait()
        with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE) as ledger:
            told.append(ledger.withdraw(instance(n), reason))
    return told


def settle_from_both_sides(
    barrier: Barrier, path: str, number: int, instances: Iterable[int]
) -> list[str]:
    """Answer each instance, or close it, from one of two workspaces, as the number says.

    What was told, by the name of its class.
    """
    workspace = (WORKSPACE, OTHER_WORKSPACE)[number % 2]
    told = []
    for n in instances:
        barrier.wait()
        with ResolutionLedger.open(path, workspace=workspace, lock_timeout=PATIENCE) as ledger:
            try:
                answer: Outcome = (
                    ledger.withdraw(instance(n), "withdrawn")
                    if number < 2
                    else ledger.resolve(record(n, number, number))
                )
            except OutsideWorkspace as refusal:
                told.append(type(refusal).__name__)
            else:
                told.append(type(answer).__name__)
    return told


def close_at_once(barrier: Barrier, paths: list[str], before: str = "") -> list[Outcome]:
    """Worker: close instance 9 in each of the ledgers.

    :param before: the first write of all, if it is not this one: "create" or "resolve".
    """
    told: list[Outcome] = []
    for path in paths:
        barrier.wait()
        with ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE) as ledger:
            if before == "create":
                ledger.create()
            elif before == "resolve":
                ledger.resolve(record(1, 1, 1))
            told.append(ledger.withdraw(instance(9), "expired"))
    return told


def submit_and_stop_inside(path: str, submission: Submission, inside: Any) -> None:
    """Stop where the clock is read: between BEGIN and COMMIT. To be killed."""

    def clock() -> int:
        inside.set()
        spawning.Event().wait(PATIENCE)
        return 0

    with ResolutionLedger.open(path, workspace=WORKSPACE, clock=clock) as ledger:
        submit(ledger, submission)
