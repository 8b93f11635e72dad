"""Others build upon the ledger's tables, and no operator's work touches what they have built."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from inside import OpenLedger, definitions
from integration import one_row_program
from integration.migrations import newer_version
from integration.rebuilders import drop, empty, fill, open_admin
from resolution_ledger import ResolutionLedger, Won
from samples import WORKSPACE, instance, record

INSTANCES = range(5)

ON_WINNERS = """
    CREATE VIEW their_winners AS
        SELECT workspace_key, count(*), min(instance_id) FROM interaction_resolutions GROUP BY 1;
    CREATE TABLE their_acts (
        name PRIMARY KEY,
        instance_id TEXT REFERENCES interaction_resolutions ON DELETE CASCADE ON UPDATE CASCADE
    );
    INSERT INTO their_acts
        SELECT 'act on ' || instance_id, instance_id FROM interaction_resolutions;
    CREATE TABLE their_log (what, instance_id);
    CREATE TRIGGER their_trigger AFTER INSERT ON interaction_resolutions
        BEGIN INSERT INTO their_log VALUES ('inserted', NEW.instance_id); END;
    CREATE TRIGGER their_other_trigger BEFORE DELETE ON interaction_resolutions
        BEGIN INSERT INTO their_log VALUES ('deleted', OLD.instance_id); END;
    CREATE INDEX their_index ON interaction_resolutions (workspace_key, resolved_tick);
    CREATE UNIQUE INDEX their_unique_index ON interaction_resolutions (response_id, instance_id);
"""

ON_LOSERS = """
    CREATE VIEW their_losers AS
        SELECT winner.response_id, losing.response_id, losing.sequence
          FROM losing_attempts AS losing JOIN interaction_resolutions AS winner USING (instance_id);
    CREATE TABLE their_remarks (
        remark, sequence INTEGER REFERENCES losing_attempts ON DELETE CASCADE
    );
    INSERT INTO their_remarks SELECT 'late', sequence FROM losing_attempts;
    CREATE TRIGGER their_trigger_on_losers AFTER UPDATE ON losing_attempts
        BEGIN INSERT INTO their_log VALUES ('updated', NEW.instance_id); END;
    CREATE INDEX their_index_of_losers ON losing_attempts (response_id);
    CREATE INDEX their_index_of_events ON resolution_events (topic, sequence);
    CREATE VIEW their_events AS SELECT topic, count(*) FROM resolution_events GROUP BY 1;
"""

ON_CLOSED = """
    CREATE VIEW their_closings AS SELECT reason, count(*) FROM closed_instances GROUP BY 1;
    CREATE TABLE their_regrets (
        regret, instance_id TEXT REFERENCES closed_instances ON DELETE CASCADE
    );
    INSERT INTO their_regrets SELECT 'too slow', instance_id FROM closed_instances;
    CREATE TRIGGER their_trigger_on_closings AFTER INSERT ON closed_instances
        BEGIN INSERT INTO their_log VALUES ('closed', NEW.instance_id); END;
    CREATE INDEX their_index_of_closings ON closed_instances (closed_tick);
"""

ON_ALL = ON_WINNERS + ON_LOSERS + ON_CLOSED

VIEWS = ["their_winners", "their_losers", "their_events", "their_closings"]
CHILDREN = ["their_acts", "their_remarks", "their_regrets"]


class Neighbour:
    """Somebody who has built upon the ledger's tables, and enforces foreign keys."""

    def __init__(self, connection: sqlite3.Connection, script: str) -> None:
        connection.executescript(script)
        connection.execute("PRAGMA foreign_keys = ON")
        self._connection = connection
        self._names = {name for _, name, _, _ in definitions(connection)}
        self._before = self.sees()
        self._acts = self._count_acts()

    def sees(self) -> list[object]:
        """All that is theirs, and the tables on which it is built."""
        parts = [part for part in definitions(self._connection) if part[1] in self._names]
        there = [name for name in (*VIEWS, *CHILDREN) if name in self._names]
        rows = [
            self._connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()  # noqa: S608
            for name in there
        ]
        assert all(rows)
        return [parts, *rows]

    def check(self) -> None:
        """Nothing of theirs has changed, and it is still connected."""
        assert self.sees() == self._before
        assert self._connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert self._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    def check_that_all_works(self, ledger: ResolutionLedger) -> None:
        """A new win is logged; a row that is deleted takes with it what refers to it."""
        self._connection.execute("DELETE FROM their_log")
        assert ledger.resolve(record(9, 1, 1)) == Won()
        self._connection.execute(
            "DELETE FROM interaction_resolutions WHERE instance_id = ?", (instance(0).text,)
        )
        assert self._connection.execute("SELECT * FROM their_log").fetchall() == [
            ("inserted", instance(9).text),
            ("deleted", instance(0).text),
        ]
        assert self._count_acts() == self._acts - 1

    def _count_acts(self) -> int:
        ((number,),) = self._connection.execute("SELECT count(*) FROM their_acts")
        return int(number)


@pytest.fixture
def neighbour(path: Path) -> Iterator[Neighbour]:
    """The neighbour of a ledger with winners, losers and closed instances."""
    fill(path, INSTANCES)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield Neighbour(connection, ON_ALL)


def damage(*statements: str) -> Callable[[Path], None]:
    """Somebody does this past the guards. (Foreign keys are off unless one asks for them.)"""

    def do(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            for event in ("insert", "update"):
                connection.execute(f"DROP TRIGGER interaction_resolutions_follow_log_on_{event}")
            for statement in statements:
                connection.execute(statement)

    return do


DAMAGES = {
    "nothing": lambda _: None,
    "emptied tables": empty,
    "deleted rows": damage(
        "DELETE FROM interaction_resolutions WHERE instance_id > 'bafyr4ij'",
        "DELETE FROM losing_attempts WHERE sequence % 4 = 0",
        "DELETE FROM closed_instances",
    ),
    "changed rows": damage(
        "UPDATE interaction_resolutions SET response_id = 'r' || resolved_tick",
        "UPDATE losing_attempts SET outcome = 'annulled'",
        "UPDATE closed_instances SET reason = 'annulled'",
    ),
    "changed keys": damage(
        "UPDATE interaction_resolutions SET instance_id = upper(instance_id)",
        "UPDATE losing_attempts SET sequence = sequence + 1000",
    ),
    "missing indexes": damage(
        "DROP INDEX losing_attempts_newest",
        "DROP INDEX resolution_events_by_fingerprint",
        "DROP INDEX resolution_events_closing",
    ),
}


@pytest.mark.parametrize("do", DAMAGES.values(), ids=DAMAGES)
def test_a_rebuild_leaves_what_others_have_built_as_it_is(
    path: Path, neighbour: Neighbour, open_ledger: OpenLedger, do: Callable[[Path], None]
) -> None:
    do(path)
    with open_admin(path) as admin:
        for clean in (do is DAMAGES["nothing"], True):
            assert admin.rebuild().clean is clean
            neighbour.check()
    neighbour.check_that_all_works(open_ledger())
    with open_admin(path) as admin:
        assert admin.rebuild().count == 1
        assert admin.verify().clean


def test_views_and_references_to_a_table_that_was_dropped_work_again_after_a_rebuild(
    path: Path,
) -> None:
    """Triggers and indexes on it have gone with it; nobody knows them any more."""
    fill(path, INSTANCES)
    only = [
        part
        for part in ON_ALL.split(";\n")
        if "TRIGGER" not in part and "INDEX" not in part and "END" not in part
    ]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        neighbour = Neighbour(connection, ";\n".join(only))
        drop(path)
        with open_admin(path) as admin:
            admin.rebuild()
            assert admin.verify().clean
        neighbour.check()


def test_reading_leaves_what_others_have_built_as_it_is(path: Path, neighbour: Neighbour) -> None:
    with open_admin(path) as admin:
        assert admin.verify(admin.checkpoint()).clean
        admin.export(BytesIO())
        assert len(list(admin.attempts())) == 2 * len(INSTANCES)
        assert admin.contested()
    neighbour.check()


def test_a_migration_leaves_what_others_have_built_as_it_is(
    neighbour: Neighbour, open_ledger: OpenLedger
) -> None:
    with newer_version():
        newer = open_ledger()
        newer.resolve(record(0, 1, 1))
        neighbour.check()
        neighbour.check_that_all_works(newer)


@pytest.mark.parametrize("form", one_row_program.FORMS.values(), ids=one_row_program.FORMS)
def test_an_adoption_leaves_what_others_have_built_as_it_is(
    path: Path, open_ledger: OpenLedger, form: str
) -> None:
    """And the older table itself."""
    one_row_program.make_table(path, [one_row_program.row(i, 1, 1, i) for i in INSTANCES], form)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        neighbour = Neighbour(connection, ON_WINNERS)
        with open_admin(path) as admin:
            assert admin.adopt() == len(INSTANCES)
            neighbour.check()
            assert admin.verify().clean
            assert admin.rebuild().clean
        neighbour.check()
        with open_ledger(workspace=WORKSPACE) as ledger:
            neighbour.check_that_all_works(ledger)
