"""Tables, indexes and guards that are missing or altered are put back as they belong."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from inside import OpenLedger, all_rows, definitions
from integration.rebuilders import READ_MODELS, fill, open_admin
from resolution_ledger import Won
from samples import record

Foreign = Callable[..., sqlite3.Connection]

GUARDS = [
    "resolution_events_refuse_update",
    "resolution_events_refuse_delete",
    "resolution_events_refuse_replace",
    "interaction_resolutions_follow_log_on_insert",
    "interaction_resolutions_follow_log_on_update",
]

INDEXES = [
    "resolution_events_by_fingerprint",
    "losing_attempts_newest",
    "resolution_events_closing",
]

GUARD = "CREATE TRIGGER resolution_events_refuse_update BEFORE UPDATE ON resolution_events"

MISSING = {
    **{f"the table {name}": [("TABLE", name)] for name in READ_MODELS},
    **{f"the index {name}": [("INDEX", name)] for name in INDEXES},
    **{f"the guard {name}": [("TRIGGER", name)] for name in GUARDS},
    "all tables": [("TABLE", name) for name in READ_MODELS],
    "all indexes and guards": [
        *(("INDEX", name) for name in INDEXES),
        *(("TRIGGER", name) for name in GUARDS),
    ],
    "everything": [
        *(("TRIGGER", name) for name in GUARDS),
        *(("INDEX", name) for name in INDEXES),
        *(("TABLE", name) for name in READ_MODELS),
    ],
}
"""Kinds and names, in an order in which they can be dropped."""

ALTERED = {
    "a guard that lets all pass": f"{GUARD} WHEN 0 BEGIN SELECT RAISE(ABORT, 'no'); END",
    "a guard that ignores": f"{GUARD} BEGIN SELECT RAISE(IGNORE); END",
    "a guard of another table": """
        CREATE TRIGGER resolution_events_refuse_update BEFORE UPDATE ON resolution_ledger_meta
        BEGIN SELECT 1; END
    """,
    "an index of other columns": "CREATE INDEX losing_attempts_newest ON losing_attempts (outcome)",
    "an index of other rows": """
        CREATE INDEX losing_attempts_newest ON losing_attempts (workspace_key)
        WHERE outcome <> 'lost'
    """,
    "an index of what was won": """
        CREATE INDEX resolution_events_closing ON resolution_events (originator_id)
        WHERE topic = 'won'
    """,
    "an index of other columns of closings": """
        CREATE INDEX resolution_events_closing ON resolution_events (sequence)
        WHERE topic = 'closed'
    """,
    "an index of all rows": """
        CREATE INDEX losing_attempts_newest ON losing_attempts (workspace_key)
    """,
}


@pytest.fixture
def path(path: Path) -> Path:
    """Where a ledger is, in which some attempts won, some lost, and one came too late."""
    fill(path, range(5))
    return path


def rebuilt(path: Path, foreign: Foreign, damage: str) -> set[str]:
    """Damage the schema, and see that all is as it was; the parts that were reported."""
    connection = foreign()
    before = definitions(connection), all_rows(connection)
    connection.executescript(damage)
    assert definitions(connection) != before[0]
    with open_admin(path) as admin:
        wrong, mended = admin.verify(), admin.rebuild()
        assert (definitions(connection), all_rows(connection)) == before
        assert admin.verify().clean
        assert admin.rebuild().clean
    guards = [finding for finding in mended.findings if finding.kind == "guard"]
    assert guards == [finding for finding in wrong.findings if finding.kind == "guard"]
    assert all(finding.expected for finding in guards)
    return {f"{finding.expected}".split(":")[0] for finding in guards}


def dropped(parts: list[tuple[str, str]]) -> str:
    """The statements that drop them."""
    return ";".join(f"DROP {kind} {name}" for kind, name in parts)


@pytest.mark.parametrize("parts", MISSING.values(), ids=MISSING)
def test_what_is_missing_is_put_back(
    path: Path, foreign: Foreign, open_ledger: OpenLedger, parts: list[tuple[str, str]]
) -> None:
    """A table with its rows, its index and its guards."""
    reported = rebuilt(path, foreign, dropped(parts))
    assert {name for _, name in parts} <= reported
    assert open_ledger().resolve(record(9, 1, 1)) == Won()


@pytest.mark.parametrize("alteration", ALTERED.values(), ids=ALTERED)
def test_what_is_altered_is_replaced(
    path: Path, foreign: Foreign, open_ledger: OpenLedger, alteration: str
) -> None:
    kind, name = alteration.split()[1:3]
    assert rebuilt(path, foreign, f"DROP {kind} {name}; {alteration}") == {name}
    assert open_ledger().resolve(record(9, 1, 1)) == Won()


def test_the_schema_is_that_of_a_fresh_ledger_then(
    path: Path, foreign: Foreign, tmp_path: Path
) -> None:
    rebuilt(path, foreign, dropped(MISSING["everything"]))
    fill(tmp_path / "fresh.db", range(1))
    assert definitions(foreign()) == definitions(foreign(tmp_path / "fresh.db"))


def test_a_layout_of_somebody_elses_is_no_damage(path: Path, foreign: Foreign) -> None:
    """A dump, for one, may write what a guard consists of in other lines."""
    connection = foreign()
    ((guard,),) = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name = 'resolution_events_refuse_delete'"
    )
    connection.execute("DROP TRIGGER resolution_events_refuse_delete")
    connection.execute(" ".join(guard.split()))
    with open_admin(path) as admin:
        assert admin.verify().clean
        assert admin.rebuild().clean
