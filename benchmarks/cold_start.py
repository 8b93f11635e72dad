"""How long the command line takes to say who has won, from nothing but compiled modules."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from .contender import WrongAnswer
from .ours import OURS, open_ours
from .plan import Measure, Plan
from .results import Figure, Results
from .submissions import WORKSPACE, Minter

PART = "cold start"
COMMAND = Figure(PART, "resolution-ledger winner", "ms", OURS, "full")
IMPORT = Figure(PART, "import eventsourcing.sqlite", "ms", "ordinary", "full")


@contextmanager
def cold_start(plan: Plan) -> Iterator[Measure]:
    """The whole process, beside one that does no more than import the library below."""
    (record,) = Minter().first_attempts(1)

    def measure(into: Results) -> None:
        with TemporaryDirectory(dir=plan.scratch) as scratch:
            path = Path(scratch, "ledger.db")
            with open_ours(path, "full") as ledger:
                ledger.resolve(record)
            script = str(Path(sys.executable).with_name("resolution-ledger"))
            options = ["--ledger", str(path), "--workspace", WORKSPACE]
            commands = {
                COMMAND: [script, *options, "winner", record.instance.text],
                IMPORT: [sys.executable, "-c", "import eventsourcing.sqlite"],
            }
            took: dict[Figure, list[float]] = {figure: [] for figure in commands}
            compiled = str(Path(scratch, "compiled"))
            for command in commands.values():
                _run(command, compiled)
            for _ in range(plan.starts):
                for figure, command in commands.items():
                    began = perf_counter()
                    said = _run(command, compiled)
                    took[figure].append((perf_counter() - began) * 1000)
                    if figure is COMMAND and said != record.response.text:
                        raise WrongAnswer(f"{said} instead of {record.response}")
        for figure, each in took.items():
            into.add(figure, median(each))

    yield measure


def _run(command: list[str], compiled: str) -> str:
    """What it prints. It finds modules compiled, as every start but the first one does."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RESOLUTION_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONPYCACHEPREFIX"] = compiled
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return run.stdout.strip()
