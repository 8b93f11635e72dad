"""Short names for the things that almost every test needs."""

from __future__ import annotations

from functools import cache

from resolution_ledger import IdempotencyKey, InstanceId, ResolutionRecord, ResponseId
from resolution_ledger.domain.events import Attempt, Withdrawal
from resolution_ledger.domain.records import Reason

WORKSPACE, OTHER_WORKSPACE = "ws-1", "ws-2"


@cache
def instance(n: int) -> InstanceId:
    """The n-th of the instances that tests ask about."""
    return InstanceId.mint({"question": n})


@cache
def response(n: int) -> ResponseId:
    """The n-th of the responses that tests give."""
    return ResponseId.mint({"answer": n})


def key(n: int) -> IdempotencyKey:
    """The n-th of the keys that tests use."""
    return IdempotencyKey(f"key-{n}")


def record(i: int, r: int, k: int, submitted_by: str = "") -> ResolutionRecord:
    """Response ``r`` to instance ``i`` under key ``k``."""
    return ResolutionRecord(instance(i), response(r), key(k), submitted_by)


def attempt(r: int, k: int, workspace: str = WORKSPACE, by: str = "") -> Attempt:
    """Response ``r`` under key ``k`` from a workspace, as the rules see it."""
    return Attempt(workspace, response(r), key(k), by)


def withdrawal(reason: Reason, workspace: str = WORKSPACE, by: str = "") -> Withdrawal:
    """An end of asking, from a workspace, as the rules see it."""
    return Withdrawal(workspace, reason, by)
