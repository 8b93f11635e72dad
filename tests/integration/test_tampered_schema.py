"""Guards, indexes and tables that were dropped or altered: each is found, and named."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inside import definitions
from integration.altering import TRIGGERS, Opened
from integration.tampering import guards_dropped, make_ledger, tamper
from resolution_ledger import CorruptLedger, Finding, LedgerAdmin

LENGTH = 16

INDEXES = (
    "resolution_events_by_fingerprint",
    "losing_attempts_newest",
    "resolution_events_closing",
)

READ_MODELS = ("interaction_resolutions", "losing_attempts", "closed_instances")


@pytest.fixture
def ledger(path: Path) -> Iterator[Opened]:
    """A ledger, and a connection for damage."""
    make_ledger(path, LENGTH)
    connection = tamper(path)
    with LedgerAdmin.open(path) as admin:
        yield admin, connection
    connection.close()


def text_of(connection: sqlite3.Connection, name: str) -> str:
    """The statement that made a part of the schema."""
    ((text,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,))
    return str(text)


def guards(findings: tuple[Finding, ...]) -> dict[str, str | None]:
    """The parts that findings name, and what was found of each; there are no other findings."""
    assert {finding.kind for finding in findings} <= {"guard"}
    return {str(f.expected).partition(":")[0]: f.found for f in findings}


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_guard_that_was_dropped_is_found(ledger: Opened, name: str) -> None:
    """By its name, with what it should say."""
    admin, connection = ledger
    expected = " ".join(text_of(connection, name).split())
    connection.execute(f"DROP TRIGGER {name}")
    assert admin.verify().findings == (Finding("guard", None, None, f"{name}: {expected}", None),)


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_was_dropped_is_found(ledger: Opened, name: str) -> None:
    """By its name."""
    admin, connection = ledger
    connection.execute(f"DROP INDEX {name}")
    assert guards(admin.verify().findings) == {name: None}


@pytest.mark.parametrize(
    ("table", "others"),
    [
        ("interaction_resolutions", [name for name in TRIGGERS if "follow" in name]),
        ("losing_attempts", ["losing_attempts_newest"]),
        ("closed_instances", []),
    ],
)
def test_a_table_that_was_dropped_is_found_with_all_that_belongs_to_it(
    ledger: Opened, table: str, others: list[str]
) -> None:
    """And its rows are not counted one by one."""
    admin, connection = ledger
    connection.execute(f"DROP TABLE {table}")
    assert guards(admin.verify().findings) == dict.fromkeys([table, *others])


def test_everything_that_can_be_made_anew_is_found_at_once(ledger: Opened) -> None:
    """Where there is nothing but the log."""
    admin, connection = ledger
    for table in READ_MODELS:
        connection.execute(f"DROP TABLE {table}")
    for name in TRIGGERS[:3]:
        connection.execute(f"DROP TRIGGER {name}")
    for name in (INDEXES[0], INDEXES[2]):
        connection.execute(f"DROP INDEX {name}")
    report = admin.verify()
    assert guards(report.findings).keys() == {*TRIGGERS, *INDEXES, *READ_MODELS}
    assert report.length == LENGTH


ALTERATIONS: dict[str, Callable[[str], str]] = {
    "does nothing": lambda text: text[: text.index("BEGIN")] + "BEGIN SELECT 1; END",
    "ignores": lambda text: f"{text[: text.index('RAISE')]}RAISE(IGNORE); END",
    "never fires": lambda text: (
        text.replace("WHEN ", "WHEN 0 AND ")
        if "WHEN" in text
        else text.replace("BEGIN", "WHEN 0 BEGIN")
    ),
    "fires at other times": lambda text: (
        text.replace("BEFORE", "AFTER") if "BEFORE" in text else text.replace("AFTER", "BEFORE")
    ),
    "guards another table": lambda text: (
        text.replace(
            "ON interaction_resolutions" if "ON interaction" in text else "ON resolution_events",
            "ON losing_attempts",
        )
        .replace("NEW.originator_id", "NEW.instance_id")
        .replace("NEW.originator_version", "1")
    ),
    "says another thing": lambda text: text.replace("ABORT, '", "ABORT, 'perhaps "),
    "does more": lambda text: text.replace("END", " DELETE FROM losing_attempts; END"),
}


@pytest.mark.parametrize("alter", ALTERATIONS.values(), ids=ALTERATIONS)
@pytest.mark.parametrize("name", TRIGGERS)
def test_a_guard_that_was_altered_is_found(
    ledger: Opened, name: str, alter: Callable[[str], str]
) -> None:
    """With what it says now."""
    admin, connection = ledger
    text = text_of(connection, name)
    altered = alter(text)
    assert altered != text
    connection.execute(f"DROP TRIGGER {name}")
    connection.execute(altered)
    assert guards(admin.verify().findings) == {name: altered}


@pytest.mark.parametrize("name", [name for name in TRIGGERS if "follow" in name])
def test_a_guard_that_asks_for_another_tag_is_found(ledger: Opened, name: str) -> None:
    """Also if it differs in nothing but its case: to the database that is another text."""
    admin, connection = ledger
    altered = text_of(connection, name).replace("'won'", "'WON'")
    connection.execute(f"DROP TRIGGER {name}")
    connection.execute(altered)
    assert guards(admin.verify().findings) == {name: altered}


INDEX_ALTERATIONS = {
    "other columns": "CREATE INDEX {0} ON {1} ({2})",
    "more columns": "CREATE INDEX {0} ON {1} ({3}, {2}){4}",
    "every row": "CREATE INDEX {0} ON {1} ({3})",
    "other rows": "CREATE INDEX {0} ON {1} ({3}) WHERE {2} = 5",
    "rows by another case": "CREATE INDEX {0} ON {1} ({3}) WHERE {2} <> 'REPLAYED'",
    "another table": "CREATE INDEX {0} ON resolution_ledger_meta (ledger_id)",
}

INDEX_FACTS = {
    "resolution_events_by_fingerprint": (
        "resolution_events",
        "topic",
        "fingerprint",
        " WHERE originator_version > 1",
    ),
    "losing_attempts_newest": (
        "losing_attempts",
        "outcome",
        "workspace_key",
        " WHERE outcome <> 'replayed'",
    ),
    "resolution_events_closing": (
        "resolution_events",
        "originator_version",
        "originator_id",
        " WHERE topic = 'closed'",
    ),
}


@pytest.mark.parametrize("statement", INDEX_ALTERATIONS.values(), ids=INDEX_ALTERATIONS)
@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_was_altered_is_found(ledger: Opened, name: str, statement: str) -> None:
    """The statements that name it would fail, or find too little."""
    admin, connection = ledger
    connection.execute(f"DROP INDEX {name}")
    connection.execute(statement.format(name, *INDEX_FACTS[name]))
    assert name in guards(admin.verify().findings)


def test_a_log_that_lost_its_arbiter_is_found(ledger: Opened) -> None:
    """Without the unique key, two events could stand at position 1."""
    admin, connection = ledger
    text = text_of(connection, "resolution_events")
    key = ",\n        UNIQUE (originator_id, originator_version)"
    assert key in text
    indexes = [text_of(connection, name) for name in INDEXES if name != "losing_attempts_newest"]
    with guards_dropped(connection):
        connection.execute("CREATE TABLE kept AS SELECT * FROM resolution_events")
        connection.execute("DROP TABLE resolution_events")
        connection.execute(text.replace(key, ""))
        for index in indexes:
            connection.execute(index)
        connection.execute("INSERT INTO resolution_events SELECT * FROM kept")
        connection.execute("DROP TABLE kept")
    try:
        told = set(guards(admin.verify().findings))
    except CorruptLedger as error:
        told = {str(error)}
    assert any("resolution_events" in words for words in told)


ADDITIONS = """
    CREATE VIEW theirs AS SELECT * FROM interaction_resolutions JOIN losing_attempts;
    CREATE TABLE log (what);
    CREATE TRIGGER theirs_on_insert AFTER INSERT ON interaction_resolutions
    BEGIN INSERT INTO log VALUES (NEW.instance_id); END;
    CREATE TRIGGER theirs_on_events AFTER INSERT ON resolution_events
    BEGIN INSERT INTO log VALUES (NEW.sequence); END;
    CREATE INDEX theirs_by_tick ON losing_attempts (attempted_tick);
    CREATE TABLE acts (instance_id REFERENCES interaction_resolutions ON DELETE CASCADE);
    ANALYZE;
    VACUUM;
"""


def test_what_others_added_is_no_fault(ledger: Opened) -> None:
    """Nor is a database that was packed."""
    admin, connection = ledger
    connection.executescript(ADDITIONS)
    assert admin.verify().clean


def test_guards_that_were_put_back_to_the_letter_are_no_fault(ledger: Opened) -> None:
    """In whatever layout."""
    admin, connection = ledger
    before = definitions(connection)
    with guards_dropped(connection):
        pass
    assert definitions(connection) == before
    for name in TRIGGERS:
        text = text_of(connection, name)
        connection.execute(f"DROP TRIGGER {name}")
        connection.execute(" ".join(text.split()))
    assert admin.verify().clean
