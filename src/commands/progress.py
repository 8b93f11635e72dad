"""How a long command shows how far it is: on a terminal, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..projections.report import Progress


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[Progress], object] | None]:
    """What to pass as ``progress``; None where standard error is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]:,.0f} events/s"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, rate=0.0)

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done, total=progress.total, rate=progress.rate)

        yield show
