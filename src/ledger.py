"""The ledger: the one door for callers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Literal, Self

from .domain.errors import InvalidOption, InvalidRecord, OutsideWorkspace, ResolutionError
from .domain.events import Attempt, Withdrawal
from .domain.ids import InstanceId, ResponseId
from .domain.outcomes import Closed, Lost, Replayed, Withdrawn, Won
from .domain.records import Reason, RecordedAttempt, ResolutionRecord
from .domain.text import check_text
from .doors import Door, check_instance, check_limit, check_reason, check_sequence, check_timeout
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

        A ledger that is not there yet is created by ``create`` or by the first ``resolve`` or
        ``withdraw``, by nothing else.

        :param durability: "full": an acknowledged answer survives a power cut. "normal": it
            survives a crash of the process, and a power cut may take the newest ones back.
        :param lock_timeout: how many seconds a call waits for others: for threads before it, other
            processes and the write lock together.
        :param clock: the wall clock in nanoseconds since 1970, for display only. It is read while
            the write lock is held, perhaps in another thread and more than once for a call, and
            cannot write to this ledger. What it raises, the caller of ``resolve`` or ``withdraw``
            gets, and ``InvalidTick`` for a number of more than 64 bits.
        :raises InvalidText: if ``workspace`` is not 1 to 512 bytes of UTF-8.
        :raises InvalidOption: if another option has an impossible value.
        """
        return cls(
            *open_store(
                target,
                workspace=workspace,
                durability=durability,
                lock_timeout=lock_timeout,
                clock=clock,
            )
        )

    @property
    def workspace(self) -> str:
        """The workspace that the ledger was opened for."""
        return self._workspace

    def create(self) -> None:
        """Make the ledger if there is none, so that it can be read and waited for.

        One that an older version of this package has made is brought up to date.

        :raises NotALedger: if the database has other things of these names.
        :raises NotAdopted: if it has the winners of a one-row table.
        """
        self._store.create()

    def resolve(self, record: ResolutionRecord) -> Won | Lost | Replayed | Closed:
        """Submit an attempt. On ``Won``, and only there, the caller acts.

        ``Closed`` is only ever the answer where somebody has called :meth:`withdraw`.

        :raises IdempotencyConflict: if the key belongs to another response. On record.
        :raises OutsideWorkspace: if the instance is another workspace's. On record.
        :raises InvalidRecord: if ``record`` is not a ``ResolutionRecord``.
        :raises StoreError: for ``StoreBusy``, and where its ``outcome_unknown`` is True, make the
            same call again; the others say what to do.
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

    def withdraw(
        self, instance: InstanceId, reason: Reason, submitted_by: str = ""
    ) -> Withdrawn | Closed | Lost:
        """Stop asking: from ``Withdrawn`` or ``Closed`` on, no answer to the instance counts.

        It competes with answers for the same first place. On ``Lost`` an answer was first, and
        counts; whoever was told ``Won`` acts on it.

        :param reason: "expired": nobody answered in time. "withdrawn": any other reason.
        :param submitted_by: a label for the audit, as in a ``ResolutionRecord``.
        :raises OutsideWorkspace: if the instance is another workspace's. On record.
        :raises InvalidId: if ``instance`` is not an ``InstanceId``.
        :raises InvalidOption: if ``reason`` is another one.
        :raises InvalidText: if ``submitted_by`` is not 0 to 512 bytes of UTF-8.
        :raises StoreError: as :meth:`resolve` does.
        """
        label = check_text("submitted_by", submitted_by, may_be_empty=True)
        withdrawal = Withdrawal(self._workspace, check_reason(reason), label)
        answer = self._store.withdraw(check_instance(instance), withdrawal)
        if isinstance(answer, OutsideWorkspace):
            raise answer
        return answer

    def wait(
        self, instance: InstanceId, timeout: float | None = None
    ) -> ResponseId | Closed | None:
        """The response that won the instance, or how it was closed, as soon as there is either.

        Whoever learns of a winner here does not act on it: only ``Won`` does. A timeout changes
        nothing in the ledger.

        :param timeout: after how many seconds None is returned; 0: after one look; None: never.
        :raises OutsideWorkspace: once another workspace has resolved or closed the instance. A
            look leaves nothing on record.
        :raises InvalidId: if ``instance`` is not an ``InstanceId``.
        :raises InvalidOption: if ``timeout`` is neither None nor a number that is not negative.
        """
        seconds = check_timeout(timeout)
        outcome = self._store.wait(self._workspace, check_instance(instance), seconds)
        if isinstance(outcome, OutsideWorkspace):
            raise outcome
        return outcome

    def watch(self, after: int = 0) -> Iterator[RecordedAttempt]:
        """What this workspace has on record past a sequence, and then whatever it adds; endless.

        In the order of commits, none missed and none twice: go on with the ``sequence`` of the
        last one. It reads the whole log past ``after``, of which it yields this workspace's
        part. It holds no transaction while it waits, and may be left at any time. Closing the
        ledger ends it with ``LedgerClosed``.

        :raises InvalidOption: if ``after`` is no sequence.
        :raises CorruptLedger: at an event that cannot be read, whosever it is.
        """
        return self._store.watch(self._workspace, check_sequence("after", after))

    def winner(self, instance: InstanceId) -> ResponseId | None:
        """The response that won the instance; None if none did under this workspace.

        The cheapest look: at the table of winners, and only where that has none at the log. One
        that is found may be from a file that was replaced within the last millisecond.

        :raises InvalidId: if ``instance`` is not an ``InstanceId``.
        """
        if type(instance) is not InstanceId:  # as there, without the cost of a call
            check_instance(instance)
        return self._store.winner(self._workspace, instance)

    def history(self, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
        """What this workspace tried on the instance and is on record, oldest first.

        :raises InvalidId: if ``instance`` is not an ``InstanceId``.
        """
        return self._store.history(self._workspace, check_instance(instance))

    def losers(self, limit: int = 20) -> tuple[RecordedAttempt, ...]:
        """This workspace's newest losing attempts, replays left out, newest first.

        :raises InvalidOption: if ``limit`` is not a positive 64-bit integer.
        """
        return self._store.losers(self._workspace, check_limit(limit))

    def close(self) -> None:
        """Let calls in flight finish and close every connection. May be called twice.

        Calls that still wait for their turn get ``LedgerClosed``. It takes ``lock_timeout`` and ten
        seconds at most.
        """
        self._store.close()


def open_store(
    target: str | os.PathLike[str],
    *,
    workspace: str,
    durability: str,
    lock_timeout: float,
    clock: Callable[[], int],
) -> tuple[EventStore, str]:
    """The store that the options of ``open`` name, and the workspace."""
    fence = check_text("workspace", workspace)
    if not callable(clock):
        raise InvalidOption("clock", clock, "not callable")
    database = open_target(target, durability=durability, lock_timeout=lock_timeout)
    return EventStore(database, clock), fence
