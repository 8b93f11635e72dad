"""The ledger of this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    Lost,  # (mypy does not find an editable installation)
    Replayed,
    ResolutionLedger,
    Won,
)

from .contender import PATIENCE, Contender, Kind
from .measurements import Durability
from .submissions import WORKSPACE

OURS = "ours"


@contextmanager
def open_ours(path: Path, durability: Durability) -> Iterator[Contender]:
    """The ledger at ``path``."""
    with ResolutionLedger.open(
        path, workspace=WORKSPACE, durability=durability, lock_timeout=PATIENCE
    ) as ledger:
        yield Contender(
            name=OURS,
            submission=lambda record: record,
            instance=attrgetter("instance"),
            resolve=ledger.resolve,
            winner=ledger.winner,
            outcome=outcome,
        )


def outcome(answer: Won | Lost | Replayed) -> str:
    """The answer in one word. A replay of another submission than the winner's is not meant."""
    match answer:
        case Won():
            return "won"
        case Lost():
            return "lost"
        case Replayed(own=True):
            return "replayed"
    return "replayed by another"


OURS_KIND = Kind(OURS, open_ours, shared=True, most=40_000)
