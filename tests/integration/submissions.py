"""What hosts submit: answers and withdrawals, and draws of both that are the same in every run."""

from __future__ import annotations

from random import Random
from typing import NamedTuple, get_args

from resolution_ledger import (
    IdempotencyConflict,
    InstanceId,
    OutsideWorkspace,
    ResolutionLedger,
    ResolutionRecord,
)
from resolution_ledger.domain.records import Reason
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record


class Withdrawn(NamedTuple):
    """A host stops asking."""

    instance: InstanceId
    reason: Reason
    submitted_by: str = ""


Submission = ResolutionRecord | Withdrawn
Submitted = tuple[str, Submission]
"""By which workspace, and what."""


def withdrawal(i: int, reason: Reason, by: str = "") -> Withdrawn:
    """A host stops asking about instance ``i``."""
    return Withdrawn(instance(i), reason, by)


def told(ledger: ResolutionLedger, submission: Submission) -> object:
    """The answer to it, refusals included, as a value that compares."""
    try:
        if isinstance(submission, Withdrawn):
            return ledger.withdraw(*submission)
        return ledger.resolve(submission)
    except (OutsideWorkspace, IdempotencyConflict) as refusal:
        return type(refusal).__name__, str(refusal)


def identity(submission: Submission) -> tuple[object, ...]:
    """What makes two submissions of a workspace the same one."""
    if isinstance(submission, Withdrawn):
        return submission.instance, submission.reason
    return submission.instance, submission.response, submission.idempotency_key


EVERY_OUTCOME: tuple[Submitted, ...] = (
    (WORKSPACE, withdrawal(4, "expired", "tty")),  # closes it
    (WORKSPACE, record(4, 1, 1, "web:7f3a")),  # late
    (WORKSPACE, record(5, 1, 1, "tty")),  # wins
    (OTHER_WORKSPACE, withdrawal(4, "expired")),  # fenced
    (WORKSPACE, withdrawal(5, "withdrawn", "tty")),  # lost
    (WORKSPACE, withdrawal(4, "withdrawn")),  # late
    (WORKSPACE, record(5, 2, 2)),  # lost
    (OTHER_WORKSPACE, record(5, 1, 1)),  # fenced
    (WORKSPACE, record(5, 1, 3)),  # a replay
    (WORKSPACE, record(5, 3, 2, "tty")),  # a conflict
    (WORKSPACE, record(4, 2, 1, "tty")),  # late, under a key that another late one has used
    (OTHER_WORKSPACE, withdrawal(6, "withdrawn", "web:7f3a")),  # closes another one
)
"""Where instances 4, 5 and 6 are open: everything that can become of a submission."""


def some_submission(draw: Random, instances: int) -> Submitted:
    """One that meets others often: few responses and keys, two workspaces, few reasons."""
    workspace = draw.choice([WORKSPACE, WORKSPACE, OTHER_WORKSPACE])
    i, by = draw.randrange(instances), draw.choice(["", "tty", "web:7f3a"])
    if draw.randrange(6) == 0:
        return workspace, withdrawal(i, draw.choice(get_args(Reason)), by)
    return workspace, record(i, draw.randrange(5), draw.randrange(5), by)
