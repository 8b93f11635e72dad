"""Random attempts and withdrawals, the same in every run."""

from __future__ import annotations

from random import Random

from resolution_ledger import ResolutionRecord
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record
from submissions import Closing, Submitted


def some_attempts(seed: int, count: int, instances: int) -> list[tuple[str, ResolutionRecord]]:
    """Attempts that meet often: few responses and keys, two workspaces."""
    draw = Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    return [
        (
            draw.choice([WORKSPACE, WORKSPACE, OTHER_WORKSPACE]),
            record(draw.randrange(instances), draw.randrange(5), draw.randrange(5), "by"),
        )
        for _ in range(count)
    ]


def some_submissions(seed: int, count: int, instances: int) -> list[Submitted]:
    """Attempts as above; each fifth or so is a withdrawal instead."""
    draw = Random(seed)  # noqa: S311 (as above)
    return [
        (workspace, attempt)
        if draw.randrange(5)
        else (
            workspace,
            Closing(
                instance(draw.randrange(instances)), draw.choice(["expired", "withdrawn"]), "by"
            ),
        )
        for workspace, attempt in some_attempts(seed, count, instances)
    ]
