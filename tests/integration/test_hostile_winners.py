"""Tables of winners that are not quite ours, and triggers that undo what a rebuild does."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inside import all_rows, files_in
from integration.altering import LOSING, WINNERS, Opened, pretend, remake, text_of
from integration.one_row_program import FORMS, make_table, row
from integration.tampering import NOBODYS, guards_dropped
from resolution_ledger import CorruptLedger, LedgerAdmin, NotALedger
from samples import instance

TRIGGERS = (
    "resolution_events_refuse_update",
    "resolution_events_refuse_delete",
    "resolution_events_refuse_replace",
    "interaction_resolutions_follow_log_on_insert",
    "Interaction_Resolutions_Follow_Log_On_Update",
)


def insert_winner(connection: sqlite3.Connection, key: object) -> None:
    with guards_dropped(connection):
        connection.execute(
            "INSERT INTO interaction_resolutions VALUES (?, 'ws-1', ?, 'k', 1)",
            (key, NOBODYS["response"]),
        )


def test_a_winner_under_an_id_of_another_case_is_not_overlooked(contested: Opened) -> None:
    """Where the table holds both for the same key, a look-up would find the forged one."""
    admin, connection = contested
    remake(
        connection,
        WINNERS,
        lambda text: text.replace("TEXT PRIMARY", "TEXT COLLATE NOCASE PRIMARY"),
    )
    insert_winner(connection, NOBODYS["instance"].upper())
    before = all_rows(connection)
    assert {"guard", "winner"} <= {finding.kind for finding in admin.verify().findings}
    with pytest.raises(CorruptLedger, match=WINNERS):
        admin.rebuild()
    assert all_rows(connection) == before


@pytest.mark.parametrize("key", [5, 5.5, b"x", NOBODYS["instance"].upper()], ids=repr)
def test_keys_that_the_table_could_not_have_taken_are_found_to_the_last(
    contested: Opened, key: object
) -> None:
    """The text of the table says that they are texts; whatever is mended, it is not half."""
    admin, connection = contested
    text = text_of(connection, WINNERS)
    remake(
        connection,
        WINNERS,
        lambda text: text.replace("instance_id TEXT", "instance_id COLLATE NOCASE"),
    )
    insert_winner(connection, key)
    pretend(connection, WINNERS, text)
    assert {"storage", "winner"} & {finding.kind for finding in admin.verify().findings}
    try:
        admin.rebuild()
    except CorruptLedger:
        assert not admin.verify().clean
    else:
        assert admin.verify().clean
    assert {instance(i).text for i in range(6)} <= {
        won for won, *_ in all_rows(connection)[WINNERS]
    }


REFUSED = {
    "a unique response": "CREATE UNIQUE INDEX their_key ON interaction_resolutions (response_id)",
    "a unique key in a workspace": "CREATE UNIQUE INDEX their_key"
    " ON interaction_resolutions (workspace_key, idempotency_key)",
    "a unique tick, of some": "CREATE UNIQUE INDEX their_key"
    " ON interaction_resolutions (resolved_tick) WHERE resolved_tick > 5",
    "a unique expression": "CREATE UNIQUE INDEX their_key"
    " ON interaction_resolutions (lower(idempotency_key))",
    **{
        f"a trigger {name}": f"CREATE TRIGGER {name} AFTER INSERT ON theirs BEGIN SELECT 1; END"
        for name in TRIGGERS
    },
}

TAKEN = {
    "a unique key with the instance": "CREATE UNIQUE INDEX their_key"
    " ON interaction_resolutions (idempotency_key, instance_id)",
    "the instance once more": "CREATE UNIQUE INDEX their_key"
    " ON interaction_resolutions (instance_id)",
    "an index": "CREATE INDEX theirs_by_tick ON interaction_resolutions (resolved_tick)",
    "a trigger": "CREATE TRIGGER theirs_too AFTER INSERT ON theirs BEGIN SELECT 1; END",
}


def older(path: Path, form: str, statement: str = "ANALYZE") -> None:
    """The table of an older program, and something beside it."""
    make_table(path, [row(n, n, n, n) for n in range(3)], form)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE theirs (what)")
        connection.execute(statement)


def refuse(path: Path) -> None:
    """See that it is not adopted, and that nothing is changed."""
    before = files_in(path.parent)
    with LedgerAdmin.open(path) as admin, pytest.raises(NotALedger):
        admin.adopt()
    assert files_in(path.parent) == before


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED)
def test_winners_are_not_adopted_beside_what_would_be_in_the_way(
    path: Path, form: str, statement: str
) -> None:
    """One day it would refuse a row that the log demands, or a guard could not be made."""
    older(path, form, statement)
    refuse(path)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_winners_by_ids_of_any_case_are_not_adopted(path: Path, form: str) -> None:
    """Two instances could have one winner."""
    older(path, form.replace("instance_id TEXT", "instance_id TEXT COLLATE NOCASE"))
    refuse(path)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("statement", TAKEN.values(), ids=TAKEN)
def test_winners_are_adopted_beside_what_is_in_nobodys_way(
    path: Path, form: str, statement: str
) -> None:
    older(path, form, statement)
    with LedgerAdmin.open(path) as admin:
        assert admin.adopt() == 3
        assert admin.verify().clean


def forge(connection: sqlite3.Connection, table: str) -> None:
    """Put a row into a read model that the log does not demand."""
    if table == WINNERS:
        insert_winner(connection, NOBODYS["instance"])
    else:
        connection.execute(
            "INSERT INTO losing_attempts VALUES (99, ?, 2, 'lost', 'ws-1', ?, 'k', '', 1)",
            (NOBODYS["instance"], NOBODYS["response"]),
        )


@pytest.mark.parametrize("table", [WINNERS, LOSING])
def test_a_rebuild_does_not_count_a_row_as_removed_that_a_trigger_kept(
    contested: Opened, table: str
) -> None:
    """It says so, and once the trigger has gone it removes the row."""
    admin, connection = contested
    before = all_rows(connection)
    forge(connection, table)
    connection.execute(
        f"CREATE TRIGGER theirs BEFORE DELETE ON {table} BEGIN SELECT RAISE(IGNORE); END"
    )
    for _ in range(2):
        with pytest.raises(CorruptLedger, match=table):
            admin.rebuild()
        assert not admin.verify().clean
    connection.execute("DROP TRIGGER theirs")
    assert admin.rebuild().count == 1
    assert all_rows(connection) == before


@pytest.mark.parametrize("table", [WINNERS, LOSING])
def test_nor_one_as_put_back_that_a_trigger_kept_out(contested: Opened, table: str) -> None:
    admin, connection = contested
    before = all_rows(connection)
    connection.execute(f"DELETE FROM {table}")  # noqa: S608
    connection.execute(
        f"CREATE TRIGGER theirs BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END"
    )
    with pytest.raises(CorruptLedger, match=table):
        admin.rebuild()
    connection.execute("DROP TRIGGER theirs")
    assert not admin.rebuild().clean
    assert all_rows(connection) == before
