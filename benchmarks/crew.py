"""Processes that compete, started once and given one job after the other."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from .contender import Kind, warm_up
from .measurements import Durability
from .submissions import Minter
from .waits import Crowd, crowd
from .worker import Job, work

_LEAD = 0.05
"""Seconds from the last word to the workers until all of them begin."""


class Crew:
    """Processes that do the same job at the same time. Spawned: nothing open is inherited."""

    def __init__(self, pipes: list[Connection], scratch: Path) -> None:
        self._pipes = pipes
        self._scratch = scratch

    def run(  # noqa: PLR0913 - what a crowd is of
        self,
        kind: Kind,
        durability: Durability,
        processes: int,
        threads: int,
        seconds: float,
        *,
        minting: bool = False,
    ) -> Crowd:
        """Have so many processes of so many threads win for some seconds, in a fresh file.

        The file is made and warmed up beforehand, by a connection that stays open, so that the
        write-ahead log stays as long as it has become.

        :param minting: each caller mints a submission before each call. That takes some
            microseconds, in which it does not ask for the lock. Else all are prepared.
        """
        prepared = 0 if minting else int(kind.most * seconds) // (1 if processes == 1 else 2)
        pipes = self._pipes[:processes]
        with TemporaryDirectory(dir=self._scratch) as fresh:
            path = Path(fresh) / "crowd.db"
            with kind.open(path, "normal") as contender:
                warm_up(contender, Minter())
                for pipe in pipes:
                    pipe.send(Job(kind.name, path, durability, threads, seconds, prepared))
                for pipe in pipes:
                    pipe.recv()
                start = time.time() + _LEAD
                for pipe in pipes:
                    pipe.send(start)
                calls = list(chain.from_iterable(pipe.recv() for pipe in pipes))
        return crowd(calls, seconds)


@contextmanager
def started(size: int, scratch: Path) -> Iterator[Crew]:
    """A crew of so many processes."""
    context = multiprocessing.get_context("spawn")
    pipes, crew = [], []
    for number in range(size):
        mine, theirs = context.Pipe()
        process = context.Process(target=work, args=(number, theirs), daemon=True)
        process.start()
        theirs.close()  # so that a worker that fails is seen as the end of its pipe
        pipes.append(mine)
        crew.append(process)
    yield Crew(pipes, scratch)
    for pipe in pipes:
        pipe.send(None)
    for process in crew:
        process.join()
