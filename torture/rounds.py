"""A round: processes race for instances while nemeses strike, and then everything is judged."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from time import monotonic

from msgspec import Struct, field

from . import history
from .crew import Crew
from .judging import Judgement, judge
from .nemeses import disks
from .place import Place
from .plan import RoundPlan


class Outcome(Struct):
    """What came of a round."""

    plan: RoundPlan
    directory: str
    judgement: Judgement | None = None
    faults: list[str] = field(default_factory=list)
    told: dict[str, int] = field(default_factory=dict)
    struck: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    kills: int = 0
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether everything held."""
        return not self.faults and self.judgement is not None and self.judgement.clean


def run_round(plan: RoundPlan, parent: str, plant: str | None = None) -> Outcome:
    """Run it in a new directory there, which stays if anything is wrong."""
    directory = tempfile.mkdtemp(prefix=f"round-{plan.seed}-{plan.number}-", dir=parent)
    place = Place(directory)
    place.make()
    outcome = Outcome(plan, directory)
    begun = monotonic()
    mounted = "full disk" in plan.nemeses and _mount(place, outcome)
    try:
        crew = Crew(plan, place, outcome.skipped, plant)
        crew.run()
        outcome.faults += crew.faults
        outcome.kills = crew.kills
        _judge(place, outcome)
    finally:
        outcome.seconds = monotonic() - begun
        if mounted:
            disks.unmount(place, keep=not outcome.clean)
    if outcome.clean:
        shutil.rmtree(directory)
    return outcome


def _mount(place: Place, outcome: Outcome) -> bool:
    reason = disks.mount(place)
    if reason is not None:
        outcome.skipped["full disk"] = reason
    return reason is None


def _judge(place: Place, outcome: Outcome) -> None:
    outcome.faults += [
        f"{file.name}: {file.read_text()}" for file in sorted(place.folder("faults").iterdir())
    ]
    outcome.struck = {file.name: file.stat().st_size for file in place.folder("struck").iterdir()}
    calls = history.read(place.folder("calls"))
    outcome.told = dict(Counter(_name(call.told) for call in calls))
    try:
        outcome.judgement = judge(place, calls)
    except Exception as error:  # noqa: BLE001 - the ledger cannot even be read
        outcome.faults.append(f"at the end: {error!r}")


def _name(told: history.Told | None) -> str:
    match told:
        case None:
            return "never came back"
        case history.Failed(error=error):
            return f"failed: {error}"
        case history.Unknown(error=error):
            return f"unknown: {error}"
        case _:
            return type(told).__name__
