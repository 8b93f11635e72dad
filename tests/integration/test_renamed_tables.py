"""Tables that were renamed and renamed back: SQLite then quotes their names in what it stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from inside import OpenLedger
from resolution_ledger import LedgerAdmin, Lost, Replayed
from resolution_ledger.infra.sqlite.schema import TABLES
from samples import record, response


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_has_its_name_back_is_the_same(
    open_ledger: OpenLedger,
    path: str,
    foreign: Callable[[], sqlite3.Connection],
    table: str,
) -> None:
    """To an audit, to a rebuild and to whoever resolves."""
    with open_ledger() as ledger:
        ledger.resolve(record(1, 1, 1))
        assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))
    connection = foreign()
    connection.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
    connection.execute(f"ALTER TABLE elsewhere RENAME TO {table}")
    quoted = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE sql LIKE ?", (f'%"{table}"%',)
    ).fetchone()
    assert quoted[0] > 0
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().findings == ()
        assert admin.rebuild().count == 0
    with open_ledger() as ledger:
        assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
        assert ledger.resolve(record(1, 3, 3)) == Lost(response(1))
