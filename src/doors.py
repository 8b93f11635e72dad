"""What the doors have in common: how they are closed, and what they check of callers' values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from types import TracebackType
from typing import Self, cast, get_args

from .domain.errors import InvalidId, InvalidOption
from .domain.ids import InstanceId
from .domain.numbers import plain_integer, plain_number
from .domain.records import Reason


class Door(ABC):
    """A way into a ledger. Leaving its ``with`` block closes it."""

    @abstractmethod
    def close(self) -> None:
        """Let calls in flight finish and close every connection. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def check_instance(instance: InstanceId) -> InstanceId:
    """Return ``instance`` if it is one.

    :raises InvalidId: if not.
    """
    if type(instance) is not InstanceId:
        raise InvalidId(instance, "not an InstanceId")
    return instance


def check_reason(reason: Reason) -> Reason:
    """Return ``reason`` if it is one, as plain text.

    :raises InvalidOption: if it is not.
    """
    plain = str.__str__(reason) if isinstance(reason, str) else None  # whatever it claims to equal
    if plain not in get_args(Reason):
        raise InvalidOption("reason", reason, 'neither "expired" nor "withdrawn"')
    return cast(Reason, plain)


def check_sequence(option: str, value: int) -> int:
    """Return ``value`` if it can be a sequence, or 0.

    :raises InvalidOption: naming the option.
    """
    plain = plain_integer(value)
    if plain is None or not 0 <= plain < 2**63:
        raise InvalidOption(option, value, "not a sequence")
    return plain


def check_timeout(timeout: float | None) -> float | None:
    """Return ``timeout`` if it can be one; infinitely many seconds are None.

    :raises InvalidOption: if it is neither None nor a number that is not negative.
    """
    if timeout is None:
        return None
    plain = plain_number(timeout)
    if plain is None or not plain >= 0:
        raise InvalidOption("timeout", timeout, "neither None nor seconds")
    return plain if plain < inf else None


def check_limit(limit: int) -> int:
    """Return ``limit`` if it can be one.

    :raises InvalidOption: if it is not a positive 64-bit integer.
    """
    plain = plain_integer(limit)
    if plain is None or not 0 < plain < 2**63:
        raise InvalidOption("limit", limit, "not a positive integer")
    return plain
