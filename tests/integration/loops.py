"""Event loops, as tests use them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from listeners import listeners, somebody_looks
from processes import PATIENCE
from resolution_ledger import AsyncResolutionLedger
from samples import WORKSPACE


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns, in a loop of its own."""

    async def patiently() -> Any:
        async with asyncio.timeout(PATIENCE):
            return await work

    return asyncio.run(patiently())


def open_async(path: Path | str, **options: Any) -> AsyncResolutionLedger:
    """A ledger that waits long enough for any lock."""
    return AsyncResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=60, **options)


async def until_somebody_waits(number: int = 1) -> None:
    """Come back once so many wait, and somebody looks for them."""
    while listeners() < number or not somebody_looks():  # noqa: ASYNC110 (nothing tells)
        await asyncio.sleep(0.001)
