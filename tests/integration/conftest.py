"""What the tests of this level share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from inside import OpenLedger
from integration.altering import Opened, make_contested
from integration.examined import LENGTH
from integration.tampering import make_ledger, tamper
from resolution_ledger import LedgerAdmin, ResolutionLedger
from resolution_ledger.infra import mounts
from samples import record


@pytest.fixture
def foreign(path: Path) -> Iterator[Callable[..., sqlite3.Connection]]:
    """Opens plain connections, by default to ``path``: those of somebody else's program."""
    with ExitStack() as stack:

        def connect(target: Path = path) -> sqlite3.Connection:
            connection = sqlite3.connect(target, isolation_level=None, timeout=0)
            return stack.enter_context(closing(connection))

        yield connect


@pytest.fixture
def connection(
    ledger: ResolutionLedger, foreign: Callable[[], sqlite3.Connection]
) -> sqlite3.Connection:
    """Somebody else's connection to a ledger in which response 1 won instance 1, 2 lost."""
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    return foreign()


@pytest.fixture
def unguarded(
    path: Path, foreign: Callable[[], sqlite3.Connection], open_ledger: OpenLedger
) -> tuple[ResolutionLedger, sqlite3.Connection]:
    """A ledger, and a foreign connection for which nothing is refused any more.

    Instance 0 is resolved; instance 1 has a winner and two losers, at sequence 2 to 4.
    """
    ledger = open_ledger(path)
    ledger.resolve(record(0, 1, 1))
    for n in (1, 2, 3):
        ledger.resolve(record(1, n, n))
    connection = foreign()
    triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    for (name,) in triggers.fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    return ledger, connection


@pytest.fixture
def contested(path: Path) -> Iterator[Opened]:
    """Each of six instances is won by response 0 and lost by responses 1 and 2."""
    make_contested(path)
    connection = tamper(path)
    with LedgerAdmin.open(path) as admin:
        yield admin, connection
    connection.close()


@pytest.fixture
def there(path: Path) -> Path:
    """Where a ledger of every outcome is."""
    make_ledger(path, LENGTH)
    return path


@pytest.fixture
def on_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the tests run, the doctor finds a disk."""
    listed = "1 0 8:1 / / rw,relatime - ext4 /dev/vda rw"
    monkeypatch.setattr(mounts, "read_mounts", lambda: listed)
