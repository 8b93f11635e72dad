"""A run of many rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from msgspec import Struct

from .place import scratch
from .plan import plan_round
from .report import Report
from .rounds import Outcome, run_round


class Extent(Struct, frozen=True):
    """How far a run goes: whatever comes first."""

    rounds: int | None = None
    races: int | None = None
    duration: float | None = None
    """Seconds."""

    def reached(self, report: Report, begun: float) -> bool:
        """Whether it has gone so far."""
        return (
            (self.rounds is not None and report.rounds >= self.rounds)
            or (self.races is not None and report.races >= self.races)
            or (self.duration is not None and monotonic() - begun >= self.duration)
        )


def run(
    seed: int,
    extent: Extent,
    *,
    first: int = 0,
    only: Sequence[str] = (),
    directory: str | None = None,
    plant: str | None = None,
    until_failure: bool = False,
    tell: Callable[[Outcome], object] = lambda _: None,
) -> Report:
    """Run rounds, one after the other, and add them up."""
    report = Report(seed)
    begun = monotonic()
    number = first
    while not extent.reached(report, begun) and not (until_failure and report.failures):
        plan = plan_round(seed, number, only)
        outcome = run_round(plan, directory or scratch(), plant)
        report.add(outcome)
        tell(outcome)
        number += 1
    report.seconds = monotonic() - begun
    return report
