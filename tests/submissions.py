"""What hosts submit: answers and withdrawals, and draws of both that are the same in every run."""

from __future__ import annotations

from random import Random
from typing import get_args

from msgspec import Struct

from resolution_ledger import (
    Closed,
    InstanceId,
    Lost,
    Replayed,
    ResolutionLedger,
    ResolutionRecord,
    Withdrawn,
    Won,
)
from resolution_ledger.domain.records import Reason
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record


class Closing(Struct, frozen=True):
    """What ``withdraw`` is called with, as ``resolve`` is with a ``ResolutionRecord``."""

    instance: InstanceId
    reason: Reason
    submitted_by: str = ""


Submission = ResolutionRecord | Closing
Submitted = tuple[str, Submission]
"""By which workspace, and what."""


Outcome = Won | Lost | Replayed | Withdrawn | Closed


def submit(ledger: ResolutionLedger, submission: Submission) -> Outcome:
    """What the ledger tells to it. Refusals are raised."""
    if isinstance(submission, Closing):
        return ledger.withdraw(submission.instance, submission.reason, submission.submitted_by)
    return ledger.resolve(submission)


def identity(submission: Submission) -> tuple[object, ...]:
    """What makes two submissions of a workspace the same one."""
    if isinstance(submission, Closing):
        return submission.instance, submission.reason
    return submission.instance, submission.response, submission.idempotency_key


EVERY_OUTCOME: tuple[Submitted, ...] = (
    (WORKSPACE, Closing(instance(4), "expired", "tty")),  # closes it
    (WORKSPACE, record(4, 1, 1, "web:7f3a")),  # late
    (WORKSPACE, record(5, 1, 1, "tty")),  # wins
    (OTHER_WORKSPACE, Closing(instance(4), "expired")),  # fenced
    (WORKSPACE, Closing(instance(5), "withdrawn", "tty")),  # lost
    (WORKSPACE, Closing(instance(4), "withdrawn")),  # late
    (WORKSPACE, record(5, 2, 2)),  # lost
    (OTHER_WORKSPACE, record(5, 1, 1)),  # fenced
    (WORKSPACE, record(5, 1, 3)),  # a replay
    (WORKSPACE, record(5, 3, 2, "tty")),  # a conflict
    (WORKSPACE, record(4, 2, 1, "tty")),  # late, under a key that another late one has used
    (OTHER_WORKSPACE, Closing(instance(6), "withdrawn", "web:7f3a")),  # closes another one
)
"""Where instances 4, 5 and 6 are open: everything that can become of a submission."""


def some_submission(draw: Random, instances: int) -> Submitted:
    """One that meets others often: few responses and keys, two workspaces, few reasons."""
    workspace = draw.choice([WORKSPACE, WORKSPACE, OTHER_WORKSPACE])
    i, by = draw.randrange(instances), draw.choice(["", "tty", "web:7f3a"])
    if draw.randrange(6) == 0:
        return workspace, Closing(instance(i), draw.choice(get_args(Reason)), by)
    return workspace, record(i, draw.randrange(5), draw.randrange(5), by)
