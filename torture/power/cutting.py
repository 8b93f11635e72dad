"""A run: record what a script does, cut the power everywhere, judge what is left."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import monotonic

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    LedgerAdmin,
)

from .disk import Mark, Recording, Sync
from .judging import Judge
from .recording import compile_recorder, record
from .script import LEDGER, Acknowledged, Script
from .states import Cut, Thoroughness, cuts

_IMPORTED = b"imported"
_SHOWN = 20
"""Problems that a report tells; it counts all."""


class Totals(Struct, frozen=True):
    """What a run came to."""

    script: Script
    acknowledged: int
    events: int
    syncs: int
    states: int
    looked_at: int
    """States on which the ledger was opened; what SQLite made of the others, one of these was."""
    losses: int
    """States that lack what was acknowledged."""
    most_lost: int
    """Acknowledgements that a state lacks, at most."""
    faults: int
    """States of which the ledger made something wrong, or that lack what they may not."""
    problems: tuple[str, ...]
    """The first of these faults."""
    seconds: float


def run(
    script: Script,
    how: Thoroughness,
    *,
    before: Mapping[str, bytes] | None = None,
    whole: int = 0,
    most_seconds: float = float("inf"),
    stop_at_fault: bool = False,
) -> Totals:
    """Record a script and judge what each cut leaves. Its directory is made, and goes again.

    :param before: files that are there when it begins.
    :param whole: how many events there are wherever there is a ledger.
    :raises CannotRecord: with the reason, where nothing can be recorded.
    """
    with workplace() as place:
        directory = place / "recorded"
        directory.mkdir()
        for name, content in (before or {}).items():
            (directory / name).write_bytes(content)
        script = replace(script, directory=str(directory))
        command = [sys.executable, "-m", f"{__package__}.script", _encoded(script)]
        recording = record(compile_recorder(place), command, directory, place / "record")
        with LedgerAdmin.open(directory / LEDGER) as admin:
            log = tuple(admin.attempts())
        judging = place / "judged"
        judging.mkdir()
        judge = Judge(log, judging, whole=whole)
        return _judge(script, recording, judge, how, monotonic() + most_seconds, stop_at_fault)


def _judge(  # noqa: PLR0913, PLR0917 - all of a run
    script: Script,
    recording: Recording,
    judge: Judge,
    how: Thoroughness,
    deadline: float,
    stop: bool,  # noqa: FBT001 - as there
) -> Totals:
    marks = [step.text for step in recording.steps if isinstance(step, Mark)]
    told = [None if mark == _IMPORTED else msgspec.json.decode(mark, type=Acknowledged) for mark in marks]
    began, states, losses, most_lost, faults = monotonic(), 0, 0, 0, 0
    problems: list[str] = []
    for cut in cuts(recording, Random(script.seed), how):  # noqa: S311 - to be drawn again
        states += 1
        acknowledged = [each for each in told[: cut.marks] if each is not None]
        verdict = judge.judge(cut.left, acknowledged)
        length = verdict.length or 0
        lost = sum(judge.sequence(each) > length for each in acknowledged)
        wrong = [*verdict.problems]
        if lost:
            losses += 1
            most_lost = max(most_lost, lost)
            if script.durability == "full":
                wrong.append(f"{lost} acknowledged answers are lost")
        if None in told[: cut.marks] and LEDGER not in cut.left.names:
            wrong.append("the import that was acknowledged is lost")
        if wrong:
            faults += 1
            problems += [f"{_where(cut)}: {problem}" for problem in wrong]
        if (wrong and stop) or monotonic() > deadline:
            break
    return Totals(
        script=script,
        acknowledged=len(told),
        events=judge.events,
        syncs=recording.count(Sync),
        states=states,
        looked_at=judge.looked_at,
        losses=losses,
        most_lost=most_lost,
        faults=faults,
        problems=tuple(problems[:_SHOWN]),
        seconds=round(monotonic() - began, 1),
    )


def _where(cut: Cut) -> str:
    return f"after {cut.step} steps and {cut.marks} acknowledgements, left {dict(cut.left.names)}"


def _encoded(script: Script) -> str:
    return msgspec.json.encode(script).decode()


@contextmanager
def workplace() -> Iterator[Path]:
    """A directory in memory, if there is such a thing: thousands of states are written there."""
    memory = "/dev/shm"  # noqa: S108 - a directory of its own is made in it
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        yield Path(os.path.realpath(place))
