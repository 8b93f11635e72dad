"""The ledger for callers in an event loop: the same methods, awaited."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Literal, Self, TypeVar, cast

from .domain.errors import LedgerClosed, StoreUnavailable
from .domain.ids import InstanceId, ResponseId
from .domain.outcomes import Closed, Lost, Replayed, Withdrawn, Won
from .domain.records import Reason, RecordedAttempt, ResolutionRecord
from .doors import check_instance, check_sequence, check_timeout
from .infra.bells import Deadline
from .infra.news import check_place, listening
from .infra.store import EventStore
from .ledger import ResolutionLedger, open_store

T = TypeVar("T")

Page = tuple[int, list[RecordedAttempt]]
"""The last sequence of some events, and those of them that are of the workspace."""

_WRITING, _READING = 16, 8
"""Calls that are with the database at once. Those that read never wait for those that write, and
whoever waits for an answer takes a thread for each look only."""


class _Threads:
    """Threads in which calls are made."""

    def __init__(self, number: int, target: str) -> None:
        self._number = number
        self._target = target
        self._ended = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(self._number, thread_name_prefix="resolution-ledger")

    def submit(self, work: Callable[[], T]) -> asyncio.Future[tuple[T | None, Exception | None]]:
        """The future of what comes of a call.

        :raises LedgerClosed: after :meth:`end`.
        """
        if self._process != os.getpid():  # a forked child has none of its parent's threads
            self._start()
        try:
            return asyncio.get_running_loop().run_in_executor(self._pool, partial(_tried, work))
        except RuntimeError as error:
            if self._ended:
                raise LedgerClosed(self._target, "the ledger was closed") from error
            # It is queued all the same: a thread of another call may still make it.
            reason = f"no thread can be started: {error}"
            raise StoreUnavailable(self._target, reason, outcome_unknown=True) from error

    async def call(self, work: Callable[[], T]) -> T:
        """What ``work`` returns or raises, in one of the threads."""
        result, error = await self.submit(work)
        if error is not None:
            raise error
        return cast(T, result)

    def end(self) -> None:
        """Take no more calls."""
        self._ended = True
        self._pool.shutdown(wait=False)


def _tried(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """What comes of a call: a future would not take a ``StopIteration``, and never end."""
    try:
        return work(), None
    except Exception as error:  # noqa: BLE001 - it is raised again where it is awaited
        return None, error


class AsyncResolutionLedger:
    """A ledger, opened for one workspace, whose calls never block the event loop.

    Each method does and raises what that of :class:`ResolutionLedger` does; the calls are made in
    threads of its own. A call that is cancelled may happen all the same: make the same call
    again, and the answer will be the right one either way.
    """

    def __init__(self, store: EventStore, workspace: str) -> None:
        self._store = store
        self._ledger = ResolutionLedger(store, workspace)
        target = store.database.target
        self._writing, self._reading = _Threads(_WRITING, target), _Threads(_READING, target)

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
        await self._writing.call(self._ledger.create)

    async def resolve(self, record: ResolutionRecord) -> Won | Lost | Replayed | Closed:
        """As ``ResolutionLedger.resolve``. On ``Won``, and only there, the caller acts."""
        return await self._writing.call(partial(self._ledger.resolve, record))

    async def withdraw(
        self, instance: InstanceId, reason: Reason, submitted_by: str = ""
    ) -> Withdrawn | Closed | Lost:
        """As ``ResolutionLedger.withdraw``."""
        return await self._writing.call(
            partial(self._ledger.withdraw, instance, reason, submitted_by)
        )

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
        return _Watch(self._place, self._next_page, check_sequence("after", after))

    async def winner(self, instance: InstanceId) -> ResponseId | None:
        """As ``ResolutionLedger.winner``."""
        return await self._reading.call(partial(self._ledger.winner, instance))

    async def history(self, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
        """As ``ResolutionLedger.history``."""
        return await self._reading.call(partial(self._ledger.history, instance))

    async def losers(self, limit: int = 20) -> tuple[RecordedAttempt, ...]:
        """As ``ResolutionLedger.losers``."""
        return await self._reading.call(partial(self._ledger.losers, limit))

    async def close(self) -> None:
        """As ``ResolutionLedger.close``. If it is cancelled, it goes on all the same."""
        with suppress(LedgerClosed):  # it was closed before
            _, error = await asyncio.shield(self._reading.submit(self._end))
            if error is not None:
                raise error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _place(self) -> Hashable:
        return await self._reading.call(self._store.database.place)

    async def _next_page(self, after: int, place: Hashable) -> Page | None:
        look = partial(self._store.next_page, self.workspace, after)
        return await self._wait_for(look, seconds=None, place=place)

    def _end(self) -> None:
        self._ledger.close()
        self._writing.end()
        self._reading.end()

    async def _wait_for(
        self,
        look: Callable[[], T],
        *,
        seconds: float | None,
        stream: str | None = None,
        place: Hashable = None,
    ) -> T:
        """What ``news.wait_for`` does, with a thread for each look, and none in between."""
        deadline, database, call = Deadline(seconds), self._store.database, self._reading.call
        begun, place = place, await self._place() if place is None else place

        def look_there() -> T:
            found = look()
            check_place(database, place)
            return found

        if (found := await call(look if begun is None else look_there)) is not None or seconds == 0:
            return found
        loop, bell = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits in it
                loop.call_soon_threadsafe(bell.set)

        with listening(database, place, tell, stream, loop.is_closed) as see_to_looking:
            while (found := await call(look_there)) is None:
                see_to_looking()
                try:
                    async with asyncio.timeout(deadline.left):
                        await bell.wait()
                except TimeoutError:
                    return await call(look_there)
                bell.clear()
        return found


class _Watch(AsyncIterator[RecordedAttempt]):
    """What a workspace has on record. A step that is cancelled can be taken again."""

    def __init__(
        self,
        find_place: Callable[[], Awaitable[Hashable]],
        next_page: Callable[[int, Hashable], Awaitable[Page | None]],
        after: int,
    ) -> None:
        self._find_place = find_place
        self._next_page = next_page
        self._after = after
        self._place: Hashable = None
        self._read: deque[RecordedAttempt] = deque()

    async def __anext__(self) -> RecordedAttempt:
        while not self._read:
            await self._read_on()
        return self._read.popleft()

    async def _read_on(self) -> None:
        if self._place is None:
            self._place = await self._find_place()
        after = self._after
        page = await self._next_page(after, self._place)
        if page is not None and self._after == after:  # else another task has read it
            self._after, recorded = page
            self._read.extend(recorded)
