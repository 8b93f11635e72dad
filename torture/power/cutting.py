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

from resolution_ledger import LedgerAdmin
from torture.place import scratch

from .disk import Disk, Mark, Name, Recording, Sync, Write
from .judging import Judge
from .recording import CannotRecord, compile_recorder, record
from .script import ESTABLISHED, LEDGER, Acknowledged, Script
from .states import Cut, Thoroughness, cuts

_WAL = f"{LEDGER}-wal"
_SHOWN = 20
"""Faults that a report tells; it counts all."""


class Scenario(Struct, frozen=True):
    """What is recorded, and what of it stands for what."""

    name: str
    script: Script
    before: Mapping[str, bytes] = {}
    """Files that are there, and durable, when it begins."""
    whole: int = 0
    """Events that the ledger has from the moment when it is made, imported or adopted."""
    from_the_start: bool = False
    """Whether these are there before it begins."""


class Totals(Struct, frozen=True):
    """What a scenario came to."""

    scenario: str
    script: Script
    acknowledged: int
    events: int
    writes: int
    """Changes of files and names, all of which are lost, torn or kept in some state."""
    syncs: int
    copies: int
    """Of these are of the database itself: the WAL was copied into it, mostly."""
    states: int
    looked_at: int
    """States on which the ledger was opened. Each of the others comes to what one of these does."""
    losses: int
    """States that lack what was acknowledged."""
    most_lost: int
    """Acknowledgements that a state lacks, at most."""
    faults: int
    """States of which the ledger makes something wrong, or that lack what they may not."""
    problems: tuple[str, ...]
    """The first of these faults."""
    finished: bool
    """Whether time allowed for all states."""
    seconds: float


def run(
    scenario: Scenario, how: Thoroughness | None = None, *, most_seconds: float = float("inf")
) -> Totals:
    """Record a scenario and judge what each cut leaves.

    :raises CannotRecord: with the reason, where nothing can be recorded.
    """
    began = monotonic()
    with _workplace() as place:
        directory, judging = place / "recorded", place / "judged"
        directory.mkdir()
        judging.mkdir()
        for name, content in scenario.before.items():
            (directory / name).write_bytes(content)
        script = replace(scenario.script, directory=str(directory))
        text = msgspec.json.encode(script).decode()
        command = [sys.executable, "-m", f"{__package__}.script", text]
        recording = record(compile_recorder(place), command, directory, place / "record")
        _see_the_wal_written(recording)
        with LedgerAdmin.open(directory / LEDGER) as admin:
            log = tuple(admin.attempts())
        judge = Judge(log, judging, whole=scenario.whole)
        tally = _Tally(scenario, recording, judge)
        finished = True
        draws = Random(script.seed)
        for cut in cuts(recording, draws, how or Thoroughness()):
            if monotonic() - began > most_seconds:
                finished = False
                break
            tally.count(cut)
        return tally.totals(len(log), monotonic() - began, finished=finished)


def _see_the_wal_written(recording: Recording) -> None:
    """Refuse to judge a recording that lacks what it is about."""
    names = {step.file for step in recording.steps if isinstance(step, Name) and step.name == _WAL}
    written = {step.file for step in recording.steps if isinstance(step, Write)}
    if not names & written:
        raise CannotRecord("no write to the WAL was recorded")


class _Tally:
    """What the states of a recording came to so far."""

    def __init__(self, scenario: Scenario, recording: Recording, judge: Judge) -> None:
        self._scenario = scenario
        self._recording = recording
        self._judge = judge
        marks = [step.text for step in recording.steps if isinstance(step, Mark)]
        self._told = [
            None if mark == ESTABLISHED else msgspec.json.decode(mark, type=Acknowledged)
            for mark in marks
        ]
        self._states = self._losses = self._most_lost = self._faults = 0
        self._problems: list[str] = []

    def count(self, cut: Cut) -> None:
        """Judge a state."""
        told = self._told[: cut.marks]
        acknowledged = [each for each in told if each is not None]
        verdict = self._judge.judge(cut.left, acknowledged)
        length = verdict.length or 0
        lost = sum(self._judge.sequence(each) > length for each in acknowledged)
        problems = list(verdict.problems)
        if (self._scenario.from_the_start or None in told) and length < self._scenario.whole:
            lost += 1
        if LEDGER in cut.left.names and LEDGER not in self._scenario.before and not length:
            problems += ["half an import"] * bool(self._scenario.whole)
        if lost and self._scenario.script.durability == "full":
            problems.append(f"{lost} acknowledgements are lost")
        self._states += 1
        self._losses += bool(lost)
        self._most_lost = max(self._most_lost, lost)
        self._faults += bool(problems)
        where = f"after {cut.step} steps and {cut.marks} marks, {sorted(cut.left.names)}"
        self._problems += [f"{where}: {problem}" for problem in problems]

    def totals(self, events: int, seconds: float, *, finished: bool) -> Totals:
        """All of it."""
        changes = [step for step in self._recording.steps if not isinstance(step, Mark)]
        syncs = self._recording.count(Sync)
        return Totals(
            scenario=self._scenario.name,
            script=self._scenario.script,
            acknowledged=len(self._told),
            events=events,
            writes=len(changes) - syncs,
            syncs=syncs,
            copies=sum(step == Sync(self._ledger()) for step in self._recording.steps),
            states=self._states,
            looked_at=self._judge.looked_at,
            losses=self._losses,
            most_lost=self._most_lost,
            faults=self._faults,
            problems=tuple(self._problems[:_SHOWN]),
            finished=finished,
            seconds=round(seconds, 1),
        )

    def _ledger(self) -> int:
        """Which file it has become in the end."""
        disk = Disk(self._recording.before)
        for step in self._recording.steps:
            disk.take(step)
        return disk.after(disk.pending).names[LEDGER]


@contextmanager
def _workplace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=scratch()) as place:
        yield Path(os.path.realpath(place))
