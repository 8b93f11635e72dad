"""What is said of calls that cannot be explained, and what a call can be worth as evidence."""

from __future__ import annotations

from math import inf

from msgspec import Struct

from .history import Call, Failed, Unknown


class Refusal(Struct, frozen=True):
    """Calls of one instance that no order explains together."""

    instance: str
    reason: str
    calls: tuple[Call, ...] = ()


class Refused(Exception):
    """These calls cannot be explained, in the instance that is being looked at."""

    def __init__(self, reason: str, *calls: Call | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.calls = tuple(call for call in dict.fromkeys(calls) if call is not None)

    def of(self, instance: str) -> Refusal:
        """As what is reported."""
        return Refusal(instance, self.reason, self.calls)


def answered(call: Call) -> bool:
    """Whether its answer says something of what is on record."""
    return call.told is not None and not isinstance(call.told, Unknown | Failed)


def of_unknown_fate(call: Call) -> bool:
    """Whether it may have happened, or may yet happen."""
    return call.told is None or isinstance(call.told, Unknown)


def may_have_happened(call: Call) -> bool:
    """Whether it has, or nobody knows."""
    return not isinstance(call.told, Failed)


def end(call: Call) -> float:
    """Its moment is no later than this, if it has one."""
    return call.completed if answered(call) and call.completed is not None else inf
