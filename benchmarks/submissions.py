"""The submissions that are measured. Minting them is nobody's cost: it happens beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    IdempotencyKey,  # (mypy does not find an editable installation)
    InstanceId,
    ResolutionRecord,
    ResponseId,
)

WORKSPACE = "ws-1"


class Minter:
    """Mints submissions that never repeat: the same ones, in the same order, from each start.

    Ids are digests, so that they fall all over the contenders' indexes, as real ones do.
    """

    def __init__(self, start: int = 0) -> None:
        """Two numbers are used up by each first attempt, and one by each rival."""
        self._numbers = count(start)

    def first_attempts(self, number: int) -> list[ResolutionRecord]:
        """A submission on each of ``number`` fresh instances."""
        return [
            self._attempt(InstanceId.mint({"question": next(self._numbers)})) for _ in range(number)
        ]

    def rivals(self, records: Iterable[ResolutionRecord]) -> list[ResolutionRecord]:
        """For each of ``records``, another response under another key to its instance."""
        return [self._attempt(record.instance) for record in records]

    def _attempt(self, instance: InstanceId) -> ResolutionRecord:
        number = next(self._numbers)
        response = ResponseId.mint({"answer": number})
        return ResolutionRecord(instance, response, IdempotencyKey(f"{number:032x}"), "web:7f3a")
