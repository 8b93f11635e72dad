"""A clock that raises whatever it likes: who awaits the call is told, and the ledger goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from inside import database_of
from integration.loops import open_async, run
from resolution_ledger import AsyncResolutionLedger, ResolutionLedger, Withdrawn, Won
from resolution_ledger.infra.store import EventStore
from samples import WORKSPACE, instance, record, response

CALLERS = 32
"""More than there are threads for."""


class EndOfTicks(StopIteration):
    """A kind of it."""


class LikeGeneratorExit(Exception):
    """An ordinary exception, whatever its name says."""


RAISED: dict[str, tuple[type[BaseException], type[BaseException]]] = {
    "StopIteration": (StopIteration, RuntimeError),
    "a kind of StopIteration": (EndOfTicks, RuntimeError),
    "StopAsyncIteration": (StopAsyncIteration, StopAsyncIteration),
    "ZeroDivisionError": (ZeroDivisionError, ZeroDivisionError),
    "TimeoutError": (TimeoutError, TimeoutError),
    "InvalidStateError": (asyncio.InvalidStateError, asyncio.InvalidStateError),
    "like GeneratorExit": (LikeGeneratorExit, LikeGeneratorExit),
    "CancelledError": (asyncio.CancelledError, asyncio.CancelledError),
    "KeyboardInterrupt": (KeyboardInterrupt, KeyboardInterrupt),
    "SystemExit": (SystemExit, SystemExit),
}
"""What the clock raises, and what the caller sees: no coroutine can raise a StopIteration."""

each_error = pytest.mark.parametrize(("raised", "seen"), RAISED.values(), ids=RAISED)


def failing(error: type[BaseException]) -> Callable[[], int]:
    """A clock that always raises it."""

    def clock() -> int:
        raise error("no time")

    return clock


@each_error
def test_what_the_clock_raises_reaches_whoever_awaits_and_nothing_is_on_record(
    path: Path, raised: type[BaseException], seen: type[BaseException]
) -> None:
    left = [raised, raised]

    def clock() -> int:
        if left:
            raise left.pop()
        return 0

    async def ask() -> None:
        async with open_async(path, clock=clock) as ledger:
            with pytest.raises(seen) as error:
                await ledger.resolve(record(1, 1, 1))
            if seen is RuntimeError:
                assert isinstance(error.value.__cause__, raised)
            with pytest.raises(seen):
                await ledger.withdraw(instance(1), "expired")
            assert await ledger.history(instance(1)) == ()
            assert await ledger.resolve(record(1, 1, 1)) == Won()
            assert await ledger.wait(instance(1)) == response(1)

    run(ask())


def test_where_the_clock_runs_out_each_call_is_on_record_or_told_so(path: Path) -> None:
    """An iterator's next is how a clock comes to raise StopIteration. It may be asked twice."""
    ticks = iter(range(5))

    async def ask() -> None:
        async with open_async(path, clock=lambda: next(ticks)) as ledger:
            calls = [ledger.resolve(record(n, n, n)) for n in range(CALLERS)]
            told = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(one) for one in told} <= {Won, RuntimeError}
            assert told.count(Won()) <= 5
            recorded = [await ledger.history(instance(n)) for n in range(CALLERS)]
            assert [bool(one) for one in recorded] == [one == Won() for one in told]

    run(ask())


@each_error
def test_of_many_calls_at_once_each_is_told_what_its_own_clock_raised(
    path: Path, raised: type[BaseException], seen: type[BaseException]
) -> None:
    """Although they are committed together."""

    async def outcome(ledger: AsyncResolutionLedger, n: int) -> type[object]:
        try:
            return type(await ledger.resolve(record(n, n, n)))
        except BaseException as error:  # noqa: BLE001 (whatever it is)
            return type(error)

    async def ask() -> None:
        async with open_async(path) as ledger:
            await ledger.create()
            store = EventStore(database_of(ledger), failing(raised))  # type: ignore[arg-type]
            faulty = AsyncResolutionLedger(store, WORKSPACE)
            doors = [faulty if n % 4 == 0 else ledger for n in range(CALLERS)]
            told = await asyncio.gather(*(outcome(door, n) for n, door in enumerate(doors)))
            assert told == [seen if door is faulty else Won for door in doors]
            assert await ledger.withdraw(instance(0), "expired") == Withdrawn()
            await faulty.close()

    run(ask())
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        recorded = [len(ledger.history(instance(n))) for n in range(1, CALLERS)]
    assert recorded == [int(n % 4 != 0) for n in range(1, CALLERS)]
