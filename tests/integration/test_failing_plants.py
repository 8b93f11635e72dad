"""The sweep through the statements finds what is wrong: bugs that are planted in a ledger."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from integration import planted
from integration.failing import MAIN_KINDS
from integration.sweeping import sweep
from integration.test_failing_statements import WIN
from processes import run_alone


def sweep_with(_: Barrier, plant: Callable[[], None] | None) -> str:
    """What a sweep finds in a process of its own, into which a bug is planted."""
    if plant is not None:
        plant()
    for when in ("before", "after", "undone"):
        with TemporaryDirectory() as folder:
            try:
                sweep(WIN, MAIN_KINDS, when, Path(folder))
            except Exception as error:  # noqa: BLE001 (somebody holds the lock, say)
                return "\n".join(error.__notes__)
    return ""


def test_without_a_bug_it_finds_nothing() -> None:
    assert run_alone(sweep_with, None) == ""


@pytest.mark.parametrize(
    "plant", [planted.no_roll_back, planted.read_model_in_a_second_transaction]
)
def test_it_finds_a_bug_and_says_at_which_statement(plant: Callable[[], None]) -> None:
    assert "call " in run_alone(sweep_with, plant)
