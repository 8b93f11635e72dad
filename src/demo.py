"""The demonstration: separate processes race for the same answers in one ledger.

A terminal and several web processes, each with connections of its own, answer one question
after the other at the same moment. Afterwards the ledger is asked who won, and whether
everybody was told so.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from queue import Empty

from msgspec import Struct

from .domain.ids import InstanceId, ResponseId
from .domain.outcomes import Lost, Replayed, Won
from .domain.records import RecordedAttempt, ResolutionRecord
from .domain.text import IdempotencyKey
from .ledger import ResolutionLedger

WORKSPACE = "demo"
_PATIENCE = 60.0
"""Seconds after which a process that does not come is given up."""

_HESITATION = 0.002
"""Seconds by which the surfaces differ at most, so that now this one wins, now that one."""


class Heard(Struct, frozen=True):
    """What a surface was told about a question: the response that won."""

    surface: str
    question: int
    winner: str


class Loser(Struct, frozen=True):
    """Who lost, and how much later than the winner its attempt was recorded."""

    by: str
    milliseconds: float


class Question(Struct, frozen=True):
    """How one race ended, as the ledger has it."""

    instance: str
    winner: str
    losers: list[Loser]


class Race(Struct, frozen=True):
    """The whole demonstration; ``faults`` is empty if every promise was kept."""

    questions: list[Question]
    wins: dict[str, int]
    faults: list[str]


def run(instances: int, webs: int) -> Race:
    """Race for ``instances`` questions between a terminal and ``webs`` web processes."""
    surfaces = ["terminal", *(f"web-{number}" for number in range(1, webs + 1))]
    with tempfile.TemporaryDirectory(prefix="resolution-ledger-demo-") as folder:
        path = str(Path(folder, "ledger.db"))
        told = _race(path, surfaces, instances)
        with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
            histories = [ledger.history(instance_of(n)) for n in range(instances)]
    questions = [_question(history) for history in histories]
    wins = Counter(question.winner for question in questions)
    return Race(
        questions,
        {surface: wins[surface] for surface in surfaces},
        check(histories, told, surfaces),
    )


def check(
    histories: Sequence[Sequence[RecordedAttempt]], told: list[Heard], surfaces: list[str]
) -> list[str]:
    """Every way in which the race broke a promise, in words."""
    faults = []
    for n, history in enumerate(histories):
        winners = {attempt.response for attempt in history if attempt.outcome == "won"}
        if len(winners) != 1:
            faults.append(f"instance {n} has {len(winners)} winners")
        names = {answer.winner for answer in told if answer.question == n}
        if names != {str(winner) for winner in winners}:
            faults.append(f"instance {n}: the surfaces were told of {sorted(names)}")
        if sorted(attempt.submitted_by for attempt in history) != sorted(surfaces):
            faults.append(f"instance {n}: not every attempt is on record once")
    if len(told) != len(histories) * len(surfaces):
        faults.append(f"{len(told)} answers to {len(histories) * len(surfaces)} attempts")
    return faults


def instance_of(question: int) -> InstanceId:
    """The id of a question of the demonstration."""
    return InstanceId.mint({"demo": "may the agent run this command?", "number": question})


def response_of(question: int, surface: str) -> ResponseId:
    """The id of what a surface answers to it."""
    return ResponseId.mint({"instance": instance_of(question), "answered on": surface})


def _race(path: str, surfaces: list[str], instances: int) -> list[Heard]:
    # Spawned, so that the processes share nothing but the file.
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(len(surfaces)), context.Queue()
    processes = [
        context.Process(
            target=_answer_all, args=(path, surface, instances, barrier, answers), daemon=True
        )
        for surface in surfaces
    ]
    for process in processes:
        process.start()
    told = []
    while any(process.is_alive() for process in processes) or not answers.empty():
        try:
            told.append(answers.get(timeout=0.1))
        except Empty:
            continue
    for process in processes:
        process.join()
    return told


def _answer_all(
    path: str, surface: str, instances: int, barrier: Barrier, answers: Queue[Heard]
) -> None:
    """What one process does: answer each question as soon as all are ready for it."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        for question in range(instances):
            response = response_of(question, surface)
            record = ResolutionRecord(
                instance_of(question), response, IdempotencyKey(f"{surface}-{question}"), surface
            )
            barrier.wait(_PATIENCE)
            time.sleep(random.uniform(0, _HESITATION))  # noqa: S311 - no secret
            match ledger.resolve(record):
                case Won():
                    winner = str(response)
                case Lost(winner=other) | Replayed(winner=other):
                    winner = str(other)
                case closed:  # nobody does that here: the check will show it
                    winner = str(closed)
            answers.put(Heard(surface, question, winner))


def _question(history: Sequence[RecordedAttempt]) -> Question:
    first, *others = history
    return Question(
        str(first.instance),
        first.submitted_by,
        [Loser(other.submitted_by, (other.tick - first.tick) / 1e6) for other in others],
    )
