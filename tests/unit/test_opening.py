"""Opening: what a signal handler interrupts on the way into a transaction."""

from __future__ import annotations

import sqlite3

from resolution_ledger.infra.sqlite.opening import _transaction


def test_a_transaction_that_is_left_before_its_block_began_ends_with_its_connection() -> None:
    """What is left of it is noticed later, and then says nothing of the closed connection."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    begun = _transaction.__wrapped__(connection, "IMMEDIATE")  # type: ignore[attr-defined]
    next(begun)
    connection.close()
    begun.close()
