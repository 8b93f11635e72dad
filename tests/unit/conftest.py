"""A place for a gate, and as many places at it as a test needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from resolution_ledger.infra.sqlite.gate import Gate


@pytest.fixture
def path(path: Path) -> Path:
    """Where there is something that could be a ledger."""
    path.touch(0o640)
    return path


@pytest.fixture
def new_gate(path: Path) -> Iterator[Callable[[], Gate]]:
    """One more place at the gate of it."""
    with ExitStack() as stack:

        def new() -> Gate:
            gate = Gate(str(path))
            stack.callback(gate.close)
            return gate

        yield new


@pytest.fixture
def gate(new_gate: Callable[[], Gate]) -> Gate:
    return new_gate()
