"""Guards and tables that look like ours and do something else; triggers that undo what we do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from inside import all_rows, definitions
from integration.altering import (
    CLOSED,
    CONTESTED,
    EVENTS,
    LOSING,
    META,
    TRIGGERS,
    WINNERS,
    Opened,
    make_contested,
    remake,
    text_of,
)
from integration.tampering import NOBODYS, tamper
from resolution_ledger import (
    CorruptLedger,
    LedgerAdmin,
    ResolutionLedger,
)
from samples import WORKSPACE, instance, record


def quoted(text: str) -> str:
    """What the guard should do, as a name that there is none of: SQLite takes it for a text."""
    begin, end = text.index("RAISE("), text.index("; END")
    return f'{text[:begin]}"{text[begin:end]}"{text[end:]}'


def in_another_case(text: str) -> str:
    """Its literals in upper case."""
    parts = text.split("'")
    parts[1::2] = map(str.upper, parts[1::2])
    return "'".join(parts)


def with_another_blank(text: str) -> str:
    """A blank that is none to SQLite, in its last literal."""
    head, literal, tail = text.rsplit("'", 2)
    return "'".join((head, literal.replace(" ", "\u00a0", 1), tail))


ALTERATIONS = {
    "RAISE in quotes": quoted,
    "literals in another case": in_another_case,
    "another blank": with_another_blank,
}


@pytest.mark.parametrize("alter", ALTERATIONS.values(), ids=ALTERATIONS)
@pytest.mark.parametrize("name", TRIGGERS)
def test_a_guard_that_only_looks_like_ours_is_found_and_put_right(
    contested: Opened, name: str, alter: Callable[[str], str]
) -> None:
    admin, connection = contested
    text = text_of(connection, name)
    altered = alter(text)
    assert altered != text
    before = definitions(connection)
    connection.execute(f"DROP TRIGGER {name}")
    connection.execute(altered)
    (finding,) = admin.verify().findings
    assert (finding.kind, finding.found) == ("guard", altered)
    assert str(finding.expected).startswith(f"{name}: ")
    assert admin.rebuild().findings == (finding,)
    assert admin.verify().clean
    assert definitions(connection) == before


def test_guards_that_were_put_right_refuse_again(contested: Opened) -> None:
    """What they let pass while they were texts."""
    admin, connection = contested
    for name in TRIGGERS:
        text = text_of(connection, name)
        connection.execute(f"DROP TRIGGER {name}")
        connection.execute(quoted(text))
    attacks = (
        "UPDATE resolution_events SET topic = topic",
        "DELETE FROM resolution_events",
        "INSERT OR REPLACE INTO resolution_events SELECT * FROM resolution_events",
        "UPDATE interaction_resolutions SET response_id = 'x'",
        "INSERT INTO interaction_resolutions VALUES ('x', 'w', 'r', 'k', 1)",
    )
    connection.execute("BEGIN")
    for attack in attacks:
        connection.execute(attack)
    connection.execute("ROLLBACK")
    admin.rebuild()
    for attack in attacks:
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(attack)


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Alters a text by one word or two."""
    return lambda text: text.replace(old, new, 1)


CHECK = replaced("TEXT NOT NULL", "TEXT NOT NULL CHECK (1)")
STRICT: Callable[[str], str] = "{} STRICT".format

TABLES = {
    "a check on the log": (
        EVENTS,
        replaced("topic TEXT NOT NULL", "topic TEXT NOT NULL CHECK (topic <> 'x')"),
    ),
    "a log that replaces by position": (
        EVENTS,
        replaced("originator_version)", "originator_version) ON CONFLICT REPLACE"),
    ),
    "a log that replaces by sequence": (
        EVENTS,
        replaced("PRIMARY KEY", "PRIMARY KEY ON CONFLICT REPLACE"),
    ),
    "a log that ignores": (
        EVENTS,
        replaced("originator_version)", "originator_version) ON CONFLICT IGNORE"),
    ),
    "streams in any case": (EVENTS, replaced("id TEXT", "id TEXT COLLATE NOCASE")),
    "tags in any case": (EVENTS, replaced("topic TEXT", "topic TEXT COLLATE NOCASE")),
    "a log that goes with its winners": (
        EVENTS,
        replaced(
            "id TEXT NOT NULL",
            "id TEXT NOT NULL REFERENCES interaction_resolutions ON DELETE CASCADE",
        ),
    ),
    "a strict log": (EVENTS, STRICT),
    "a check on losers": (LOSING, CHECK),
    "losers that replace": (LOSING, replaced("PRIMARY KEY", "PRIMARY KEY ON CONFLICT REPLACE")),
    "losers in any case": (LOSING, replaced("id TEXT", "id TEXT COLLATE NOCASE")),
    "strict losers": (LOSING, STRICT),
    "a check on closings": (CLOSED, CHECK),
    "closings that replace": (CLOSED, replaced("KEY NOT", "KEY ON CONFLICT REPLACE NOT")),
    "closings in any case": (CLOSED, replaced("id TEXT", "id TEXT COLLATE NOCASE")),
    "strict closings": (CLOSED, "{}, STRICT".format),
    "another check on the identity": (META, replaced("CHECK (id = 1)", "CHECK (id > 0)")),
    "no check on the identity": (META, replaced(" CHECK (id = 1)", "")),
    "an identity that is replaced": (META, replaced("KEY", "KEY ON CONFLICT REPLACE")),
    "a strict identity": (META, STRICT),
    "winners in any case": (WINNERS, replaced("id TEXT", "id TEXT COLLATE NOCASE")),
}


@pytest.mark.parametrize(("table", "alter"), TABLES.values(), ids=TABLES)
def test_a_table_that_was_altered_is_found_and_rebuild_leaves_it_to_its_operator(
    contested: Opened, table: str, alter: Callable[[str], str]
) -> None:
    """Its rows may be lost or doubled: nothing is changed."""
    admin, connection = contested
    remake(connection, table, alter)
    (finding,) = admin.verify().findings
    assert finding.kind == "guard"
    assert str(finding.expected).startswith(f"{table}: ")
    before = all_rows(connection), definitions(connection)
    with pytest.raises(CorruptLedger, match=table):
        admin.rebuild()
    assert (all_rows(connection), definitions(connection)) == before


OPERATORS_CALLS: dict[str, Callable[[LedgerAdmin], object]] = {
    "verify": lambda admin: admin.verify(),
    "rebuild": lambda admin: admin.rebuild(),
    "checkpoint": lambda admin: admin.checkpoint(),
    "export": lambda admin: admin.export(BytesIO()),
    "attempts": lambda admin: list(admin.attempts()),
    "state_at": lambda admin: list(admin.state_at(1)),
    "history": lambda admin: admin.history(instance(0)),
    "resolution": lambda admin: admin.resolution(instance(0)),
    "contested": lambda admin: admin.contested(),
}

CALLERS_CALLS: dict[str, Callable[[ResolutionLedger], object]] = {
    "resolve": lambda ledger: ledger.resolve(record(50, 0, 0)),
    "winner": lambda ledger: ledger.winner(instance(0)),
    "history": lambda ledger: ledger.history(instance(0)),
    "losers": lambda ledger: ledger.losers(),
}


def without_rowids(connection: sqlite3.Connection, sequence: object) -> None:
    """A log whose sequences may be anything, and one that is."""
    remake(connection, EVENTS, "{} WITHOUT ROWID".format)
    connection.execute(
        "INSERT INTO resolution_events SELECT ?, ?, 1, topic, state, fingerprint, hash"
        "  FROM resolution_events WHERE sequence = 1",
        (sequence, NOBODYS["instance"]),
    )


def two_identities(connection: sqlite3.Connection, number: int, version: int) -> None:
    remake(connection, META, replaced(" CHECK (id = 1)", ""))
    connection.execute(
        "INSERT INTO resolution_ledger_meta VALUES (?, ?, ?)", (number, version, "0" * 32)
    )


RUINS: dict[str, Callable[[sqlite3.Connection], None]] = {
    "a sequence that is text": lambda c: without_rowids(c, "abc"),
    "a sequence that is bytes": lambda c: without_rowids(c, b"\x00"),
    "a sequence that is a fraction": lambda c: without_rowids(c, 1.5),
    "a sequence that is next": lambda c: without_rowids(c, CONTESTED + 1),
    "an identity before ours": lambda c: two_identities(c, 0, 1),
    "an identity behind ours": lambda c: two_identities(c, 2, 1),
    "an identity of another version": lambda c: two_identities(c, 2, 7),
}


@pytest.mark.parametrize("ruin", RUINS.values(), ids=RUINS)
def test_what_cannot_be_a_ledger_any_more_is_corrupt_for_everybody(
    path: Path, ruin: Callable[[sqlite3.Connection], None]
) -> None:
    """Nobody gets an error that tells of our own code."""
    make_contested(path)
    with closing(tamper(path)) as connection:
        ruin(connection)
    with LedgerAdmin.open(path) as admin:
        for operators_call in OPERATORS_CALLS.values():
            with pytest.raises(CorruptLedger):
                operators_call(admin)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        for call in CALLERS_CALLS.values():
            with pytest.raises(CorruptLedger):
                call(ledger)
