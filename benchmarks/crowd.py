"""Whether a loss costs more where others have lost before."""

from __future__ import annotations

from itertools import repeat
from pathlib import Path

from .contender import time_resolve, warm_up
from .measurements import DURABILITIES, Measurements, Series
from .ordinary import open_ordinary
from .ours import open_ours
from .submissions import Minter

FEW, MANY = 10, 10_000
"""Attempts on record before the loss that is measured."""
LOSE_AFTER_FEW, LOSE_AFTER_MANY = f"lose after {FEW:,}", f"lose after {MANY:,}"


def measure_crowd(directory: Path, batches: int, batch: int, into: Measurements) -> None:
    """Measure losses on one crowded instance and on as many quiet ones, in turns.

    A ledger holds all of them; the ordinary contender, which loads all attempts on an instance
    to decide one, has the quiet ones only. Every loss is a new submission, and each quiet
    instance takes a single one, so that exactly ``FEW`` attempts come before it.
    """
    minter = Minter()
    (crowded,) = minter.first_attempts(1)
    quiet = minter.first_attempts(len(DURABILITIES) * batches * batch)
    earlier = [rival for record in quiet for rival in minter.rivals(repeat(record, FEW - 2))]
    with open_ours(directory, "normal") as ours, open_ordinary(directory, "normal") as ordinary:
        for contender in (ours, ordinary):
            time_resolve(contender, quiet, "won")
            time_resolve(contender, earlier, "lost")
        time_resolve(ours, [crowded], "won")
        time_resolve(ours, minter.rivals(repeat(crowded, MANY - 2)), "lost")

    for durability in DURABILITIES:
        mine, quiet = quiet[: batches * batch], quiet[batches * batch :]
        with open_ours(directory, durability) as ours, open_ordinary(directory, durability) as it:
            warm_up(ours, minter)
            warm_up(it, minter)
            for number in range(batches):
                few = mine[number * batch : (number + 1) * batch]
                many = [crowded] * batch
                turns = [
                    (ours, LOSE_AFTER_FEW, few),
                    (ours, LOSE_AFTER_MANY, many),
                    (it, LOSE_AFTER_FEW, few),
                ]
                first = number % len(turns)
                for contender, operation, instances in turns[first:] + turns[:first]:
                    earlier, losses = minter.rivals(instances), minter.rivals(instances)
                    # The last of the earlier attempts comes now, so that all of them find
                    # their pages in the cache: what differs is how many came before.
                    time_resolve(contender, earlier, "lost")
                    took = time_resolve(contender, losses, "lost")
                    into.add(Series(durability, operation, contender.name), took)
