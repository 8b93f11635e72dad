"""Hypothesis profiles, and the ledgers that tests run against."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from inside import OpenLedger
from resolution_ledger import ResolutionLedger
from samples import WORKSPACE

# "ci" draws the same examples in every run, so that a red build is red again when looked at.
settings.register_profile("dev", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger may be; nothing is there yet."""
    return tmp_path / "ledger.db"


@pytest.fixture
def open_ledger(path: Path) -> Iterator[OpenLedger]:
    """Opens ledgers, by default on ``path`` for ``WORKSPACE``, and closes them afterwards."""
    with ExitStack() as stack:

        def open_(
            target: str | Path = path, *, workspace: str = WORKSPACE, **options: Any
        ) -> ResolutionLedger:
            return stack.enter_context(
                ResolutionLedger.open(target, workspace=workspace, **options)
            )

        yield open_


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> ResolutionLedger:
    """A ledger on ``path``."""
    return open_ledger()
