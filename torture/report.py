"""What a run has come to: totals, in which every failure shows."""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from pathlib import Path

import msgspec
from msgspec import Struct, field

from .judging import shown
from .nemeses.names import EVERY
from .rounds import Outcome


class Failure(Struct, frozen=True):
    """A round in which something did not hold, and what is needed to look into it."""

    seed: int
    round: int
    nemeses: tuple[str, ...]
    command: str
    """What makes the same choices once more. How the processes meet is the system's choice."""
    directory: str
    """Where the ledger was kept, with what each client asked and was told."""
    reasons: str


class Report(Struct):
    """Totals."""

    seed: int
    python: str = sys.version
    sqlite: str = sqlite3.sqlite_version
    rounds: int = 0
    races: int = 0
    processes: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    kills: int = 0
    struck: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EVERY, 0))
    skipped: dict[str, str] = field(default_factory=dict)
    refused_histories: int = 0
    missing_or_contradicted: int = 0
    """Calls that the log does not bear out."""
    differing_read_models: int = 0
    faults: int = 0
    """Errors of other kinds than the ledger's own, calls too early busy, processes that hang."""
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether everything held."""
        return not self.failures

    def add(self, outcome: Outcome) -> None:
        """Count a round."""
        plan = outcome.plan
        self.rounds += 1
        self.races += plan.instances
        self.processes += len(plan.clients)
        self.calls = _sum(self.calls, outcome.told)
        self.kills += outcome.kills
        self.struck = _sum(self.struck, outcome.struck)
        self.skipped |= outcome.skipped
        self.faults += len(outcome.faults)
        found = outcome.judgement
        if found is not None:
            self.refused_histories += len({one.instance for one in found.refused})
            self.missing_or_contradicted += len(found.contradicted)
            self.differing_read_models += len(found.findings)
        if not outcome.clean:
            self.failures.append(
                Failure(
                    plan.seed,
                    plan.number,
                    plan.nemeses,
                    plan.command,
                    outcome.directory,
                    reasons(outcome),
                )
            )

    def never_struck(self) -> list[str]:
        """Nemeses that did nothing: a fault of the harness, if they had the time."""
        return [name for name in EVERY if not self.struck[name] and name not in self.skipped]

    def write(self, path: Path) -> None:
        """As JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self)) + b"\n")


def reasons(outcome: Outcome) -> str:
    """Why a round failed, as people read it."""
    lines = [*outcome.faults]
    if outcome.judgement is not None:
        found = outcome.judgement
        if found.refused:
            lines.append(f"histories refused:\n{shown(found.refused)}")
        if found.contradicted:
            lines.append(f"not borne out by the log:\n{shown(found.contradicted)}")
        lines += found.findings
    return "\n".join(lines)


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    total = Counter(one)
    total.update(other)
    return dict(total)
