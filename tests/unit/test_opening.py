"""Opening: a file that is replaced meanwhile, and what a signal handler interrupts."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from resolution_ledger import LedgerAdmin, ResolutionLedger, StoreUnavailable, Won
from resolution_ledger.infra.sqlite import opening
from resolution_ledger.infra.sqlite.opening import _transaction
from samples import WORKSPACE, record


def test_a_transaction_that_is_left_before_its_block_began_ends_with_its_connection() -> None:
    """What is left of it is noticed later, and then says nothing of the closed connection."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    begun = _transaction.__wrapped__(connection, "IMMEDIATE")  # type: ignore[attr-defined]
    next(begun)
    connection.close()
    begun.close()


def test_a_file_that_was_made_and_replaced_before_all_was_prepared_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever makes a ledger may have to wait then, and an operator may put another one there."""
    path, other = tmp_path / "ledger.db", tmp_path / "other.db"
    with ResolutionLedger.open(other, workspace=WORKSPACE) as ledger:
        ledger.create()
    prepare = opening._make_newest  # noqa: SLF001

    def prepare_and_be_late(*arguments: Any, **options: Any) -> None:
        prepare(*arguments, **options)
        if arguments[1] == str(path) and other.exists():
            for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
                (tmp_path / name).unlink()
            other.rename(path)

    monkeypatch.setattr(opening, "_make_newest", prepare_and_be_late)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        with pytest.raises(StoreUnavailable, match="replaced while it was being opened"):
            ledger.resolve(record(1, 1, 1))
        assert ledger.resolve(record(1, 1, 1)) == Won()
        with LedgerAdmin.open(path) as admin:
            assert [one.outcome for one in admin.attempts()] == ["won"]
