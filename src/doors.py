"""What both doors have in common: how they are closed, and what they check of a caller's values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from .domain.errors import InvalidId, InvalidOption
from .domain.ids import InstanceId


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


def check_limit(limit: int) -> int:
    """Return ``limit`` if it can be one.

    :raises InvalidOption: if it is not a positive 64-bit integer.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit < 2**63:
        raise InvalidOption("limit", limit, "not a positive integer")
    return limit
