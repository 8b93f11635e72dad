"""The ledger for callers in an event loop: the same methods, awaited."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Literal, Self, TypeVar

from .domain.errors import LedgerClosed, StoreUnavailable
from .domain.ids import InstanceId, ResponseId
from .domain.outcomes import Closed, Lost, Replayed, Withdrawn, Won
from .domain.records import Reason, RecordedAttempt, ResolutionRecord
from .doors import check_instance, check_sequence, check_timeout
from .infra.bells import Deadline
from .infra.news import listening
from .infra.store import EventStore
from .ledger import ResolutionLedger, open_store

T = TypeVar("T")

_THREADS = 16
"""Calls that are with the database at once. Whoever waits for an answer is none of these."""


class AsyncResolutionLedger:
    """A ledger, opened for one workspace, whose calls never block the event loop.

    Each method does and raises what that of :class:`ResolutionLedger` does; the calls are made in
    threads of its own. A call that is cancelled may happen all the same: make the same call
    again, and the answer will be the right one either way.
    """

    def __init__(self, store: EventStore, workspace: str) -> None:
        self._store = store
        self._ledger = ResolutionLedger(store, workspace)
        self._threads, self._process = _new_threads(), os.getpid()
        self._ended = False

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
        """As ``ResolutionLedger.open``. The clock is called in other threads."""
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
        return self._ledger.workspace

    async def create(self) -> None:
        """As ``ResolutionLedger.create``."""
        await self._call(self._ledger.create)

    async def resolve(self, record: ResolutionRecord) -> Won | Lost | Replayed | Closed:
        """As ``ResolutionLedger.resolve``. On ``Won``, and only there, the caller acts."""
        return await self._call(partial(self._ledger.resolve, record))

    async def withdraw(
        self, instance: InstanceId, reason: Reason, submitted_by: str = ""
    ) -> Withdrawn | Closed | Lost:
        """As ``ResolutionLedger.withdraw``."""
        return await self._call(partial(self._ledger.withdraw, instance, reason, submitted_by))

    async def wait(
        self,
        instance: InstanceId,
        timeout: float | None = None,  # noqa: ASYNC109 - as there
    ) -> ResponseId | Closed | None:
        """As ``ResolutionLedger.wait``. It takes no thread while it waits."""
        seconds = check_timeout(timeout)
        look = partial(self._ledger.wait, check_instance(instance), 0)
        return await self._wait_for(look, seconds=seconds, stream=instance.text)

    def watch(self, after: int = 0) -> AsyncIterator[RecordedAttempt]:
        """As ``ResolutionLedger.watch``. It takes no thread while it waits."""
        return self._watch(check_sequence("after", after))

    async def winner(self, instance: InstanceId) -> ResponseId | None:
        """As ``ResolutionLedger.winner``."""
        return await self._call(partial(self._ledger.winner, instance))

    async def history(self, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
        """As ``ResolutionLedger.history``."""
        return await self._call(partial(self._ledger.history, instance))

    async def losers(self, limit: int = 20) -> tuple[RecordedAttempt, ...]:
        """As ``ResolutionLedger.losers``."""
        return await self._call(partial(self._ledger.losers, limit))

    async def close(self) -> None:
        """As ``ResolutionLedger.close``."""
        with suppress(LedgerClosed):  # it was closed before
            await self._call(self._ledger.close)
            self._ended = True
            self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _call(self, work: Callable[[], T]) -> T:
        loop, target = asyncio.get_running_loop(), self._store.database.target
        if self._process != os.getpid():  # a forked child has none of its parent's threads
            self._threads, self._process = _new_threads(), os.getpid()
        try:
            called = loop.run_in_executor(self._threads, work)
        except RuntimeError as error:
            if self._ended:
                raise LedgerClosed(target, "the ledger was closed") from error
            # It is queued all the same: a thread of another call may still make it.
            reason = f"no thread can be started: {error}"
            raise StoreUnavailable(target, reason, outcome_unknown=True) from error
        return await called

    async def _watch(self, after: int) -> AsyncIterator[RecordedAttempt]:
        while True:
            look = partial(self._store.next_page, self.workspace, after)
            if page := await self._wait_for(look, seconds=None):
                after, recorded = page
                for attempt in recorded:
                    yield attempt

    async def _wait_for(
        self, look: Callable[[], T], *, seconds: float | None, stream: str | None = None
    ) -> T:
        """What ``news.wait_for`` does, with a thread for each look, and none in between."""
        deadline = Deadline(seconds)
        if (found := await self._call(look)) is not None or seconds == 0:
            return found
        loop, bell = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits in it
                loop.call_soon_threadsafe(bell.set)

        place = await self._call(self._store.database.place)
        database, gone = self._store.database, loop.is_closed
        with listening(database, place, tell, stream, gone) as see_to_looking:
            while (found := await self._call(look)) is None:
                see_to_looking()
                try:
                    async with asyncio.timeout(deadline.left):
                        await bell.wait()
                except TimeoutError:
                    return await self._call(look)
                bell.clear()
        return found


def _new_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="resolution-ledger")
