"""The ledger for event loops, behind the methods of the other one."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Any, Self

from processes import PATIENCE
from resolution_ledger import AsyncResolutionLedger, RecordedAttempt


@contextmanager
def running_loop() -> Iterator[AbstractEventLoop]:
    """An event loop, which runs in a thread of its own. Whatever is left in it is cancelled."""
    started: Future[tuple[AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        end = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), end))
        await end.wait()

    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    loop, end = started.result(PATIENCE)
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()


class InALoop:
    """A ledger whose calls are made in a running loop, and waited for in any other thread.

    What they are called with reaches them as it is.
    """

    def __init__(self, ledger: AsyncResolutionLedger, loop: AbstractEventLoop) -> None:
        self._ledger, self._loop = ledger, loop
        self._store = ledger._store  # noqa: SLF001 (as tests look behind the other one)

    @property
    def workspace(self) -> str:
        return self._ledger.workspace

    def create(self, *given: Any, **options: Any) -> Any:
        return self._told(self._ledger.create(*given, **options))

    def resolve(self, *given: Any, **options: Any) -> Any:
        return self._told(self._ledger.resolve(*given, **options))

    def withdraw(self, *given: Any, **options: Any) -> Any:
        return self._told(self._ledger.withdraw(*given, **options))

    def wait(self, *given: Any, **options: Any) -> Any:
        return self._told(self._ledger.wait(*given, **options))

    def watch(self, *given: Any, **options: Any) -> Iterator[RecordedAttempt]:
        attempts = self._ledger.watch(*given, **options)  # what is refused, is so at once
        return iter(lambda: self._told(anext(attempts)), None)

    def winner(self, *given: Any, **options: Any) -> Any:
        return self._told(self._ledger.winner(*given, **options))

    def history(self, *given: Any, **options: Any) -> Any:
        return self._told(self._ledger.history(*given, **options))

    def losers(self, *given: Any, **options: Any) -> Any:
        return self._told(self._ledger.losers(*given, **options))

    def close(self) -> None:
        self._told(self._ledger.close())

    def __enter__(self) -> Self:
        assert self._told(self._ledger.__aenter__()) is self._ledger
        return self

    def __exit__(self, *failure: object) -> None:
        self._told(self._ledger.__aexit__(*failure))

    def _told(self, call: Awaitable[Any]) -> Any:
        """What the call returns or raises. Some of what it may raise would end the loop."""

        async def outcome() -> tuple[Any, BaseException | None]:
            try:
                return await call, None
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (whatever it is)
                return None, error

        told, error = asyncio.run_coroutine_threadsafe(outcome(), self._loop).result(PATIENCE)
        if error is not None:
            raise error
        return told
