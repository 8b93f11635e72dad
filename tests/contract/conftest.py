"""The contract's ledgers: every test that asks for one runs on every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from contract.backends import BACKENDS, OpenLedger
from resolution_ledger import ResolutionLedger
from samples import OTHER_WORKSPACE


@pytest.fixture(params=sorted(BACKENDS))
def new_ledger(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[], OpenLedger]]:
    """Each call gives the door to one more ledger, which is empty."""
    numbers = count()
    with ExitStack() as stack:

        def new() -> OpenLedger:
            directory = tmp_path / f"ledger-{next(numbers)}"
            directory.mkdir()
            return stack.enter_context(BACKENDS[request.param](directory))

        yield new


@pytest.fixture
def open_ledger(new_ledger: Callable[[], OpenLedger]) -> OpenLedger:
    """Opens ledger objects on one ledger, which is empty at first."""
    return new_ledger()


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> ResolutionLedger:
    """That ledger, for the workspace of most tests."""
    return open_ledger()


@pytest.fixture
def other(open_ledger: OpenLedger) -> ResolutionLedger:
    """The same ledger, for another workspace."""
    return open_ledger(workspace=OTHER_WORKSPACE)
