"""Processes that do different things at once, and processes that are killed."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from random import Random
from time import sleep
from typing import Any

from processes import PATIENCE, run_together

Part = tuple[Callable[..., Any], ...]
"""A function that a fresh process can import, and its arguments."""


def play_together(parts: list[Part]) -> list[Any]:
    """What each of the parts returns. Each has a process of its own, and all start at once."""
    return run_together(_play, parts)


def _play(barrier: Barrier, part: Callable[..., Any], *arguments: Any) -> Any:
    barrier.wait()
    return part(*arguments)


def kill_at_random(random: Random, longest: float, work: Callable[[Any], None]) -> None:
    """Have ``work(begun)`` done by another process, and kill it so many seconds in, or fewer.

    The time runs from when the work sets ``begun``. Whatever it does after that, it is not to
    end. To be called in a fresh process, where nothing is open that a fork could share.
    """
    forking = multiprocessing.get_context("fork")
    begun = forking.Event()
    process = forking.Process(target=work, args=(begun,))
    process.start()
    assert begun.wait(PATIENCE)
    sleep(random.uniform(0, longest))
    process.kill()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    process.close()
