"""The ledger: the one door for callers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Literal, Self

from .domain.errors import InvalidOption, InvalidRecord, ResolutionError
from .domain.events import Attempt
from .domain.ids import InstanceId, ResponseId
from .domain.outcomes import Lost, Replayed, Won
from .domain.records import RecordedAttempt, ResolutionRecord
from .domain.text import check_text
from .doors import Door, check_instance, check_limit
from .infra.store import EventStore
from .infra.targets import open_target


class ResolutionLedger(Door):
    """A ledger, opened for one workspace. It may be shared by threads.

    Every method raises a ``StoreError`` if the database cannot do its part, and
    ``LedgerClosed`` after ``close``.
    """

    def __init__(self, store: EventStore, workspace: str) -> None:
        self._store = store
        self._workspace = workspace

    @classmethod
    def open(
        cls,
        target: str | os.PathLike[str],
        *,
        workspace: str,
        durability: Literal["full", "normal"] = "full",
        lock_timeout: float = 5.0,
        clock: Callable[[], int] = time.time_ns,
    ) -> Self:
        """Open the ledger at a path (or ``":memory:"``) for ``workspace``.

        A ledger that is not there yet is created by the first ``resolve``, by nothing else.

        :param durability: "full": an acknowledged answer survives a power cut. "normal": it
            survives a crash of the process, and a power cut may take the newest ones back.
        :param lock_timeout: how many seconds a call waits for others that write.
        :param clock: the wall clock in nanoseconds since 1970, for display only.
        :raises InvalidText: if ``workspace`` is not 1 to 512 bytes of UTF-8.
        :raises InvalidOption: if another option has an impossible value.
        """
        fence = check_text("workspace", workspace)
        if not callable(clock):
            raise InvalidOption("clock", clock, "not callable")
        database = open_target(target, durability=durability, lock_timeout=lock_timeout)
        return cls(EventStore(database, clock), fence)

    @property
    def workspace(self) -> str:
        """The workspace that the ledger was opened for."""
        return self._workspace

    def resolve(self, record: ResolutionRecord) -> Won | Lost | Replayed:
        """Submit an attempt. On ``Won``, and only there, the caller acts.

        :raises IdempotencyConflict: if the key belongs to another response. On record.
        :raises OutsideWorkspace: if another workspace resolved the instance. On record.
        :raises InvalidRecord: if ``record`` is not a ``ResolutionRecord``.
        :raises StoreError: see its ``outcome_unknown``; the same call may be made again.
        """
        if not isinstance(record, ResolutionRecord):
            raise InvalidRecord(f"a {type(record).__name__} is not a ResolutionRecord")
        attempt = Attempt(
            self._workspace, record.response, record.idempotency_key, record.submitted_by
        )
        answer = self._store.resolve(record.instance, attempt)
        if isinstance(answer, ResolutionError):
            raise answer
        return answer

    def winner(self, instance: InstanceId) -> ResponseId | None:
        """The response that won the instance; None if none did under this workspace.

        :raises InvalidId: if ``instance`` is not an ``InstanceId``.
        """
        return self._store.winner(self._workspace, check_instance(instance))

    def history(self, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
        """This workspace's attempts on the instance that are on record, oldest first.

        :raises InvalidId: if ``instance`` is not an ``InstanceId``.
        """
        return self._store.history(self._workspace, check_instance(instance))

    def losers(self, limit: int = 20) -> tuple[RecordedAttempt, ...]:
        """This workspace's newest losing attempts, replays left out, newest first.

        :raises InvalidOption: if ``limit`` is not a positive 64-bit integer.
        """
        return self._store.losers(self._workspace, check_limit(limit))

    def close(self) -> None:
        """Let calls in flight finish and close every connection. May be called twice."""
        self._store.close()
