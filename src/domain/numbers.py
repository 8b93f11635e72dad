"""Numbers as callers pass them: of a subclass, which could compare or count otherwise, or none."""

from __future__ import annotations


def plain_integer(value: object) -> int | None:
    """The integer that ``value`` is, of the plain type; None if it is none. No bool is one."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return int.__index__(value)


def plain_number(value: object) -> float | None:
    """As :func:`plain_integer`, where a float is as good."""
    return float.__float__(value) if isinstance(value, float) else plain_integer(value)
