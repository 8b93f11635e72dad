"""Rows of read models that were edited, removed or added: each is found, and named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.tampering import (
    GREATEST,
    LEAST,
    NOBODYS,
    Specimen,
    make_ledger,
    removal,
    sql,
)
from paging import read_by
from resolution_ledger import Finding
from samples import instance

LENGTH = 24

TEXTS = {
    "longer": "{0} || 'x'",
    "upper case": "upper({0})",
    "a NUL behind it": "{0} || char(0)",
    "empty": "CASE {0} WHEN '' THEN ' ' ELSE '' END",
    "no UTF-8": "CAST(CAST({0} AS BLOB) || x'ff' AS TEXT)",
    "bytes": "CAST({0} AS BLOB)",
}

NUMBERS = {
    "greater by one": "{0} + 1",
    "negative": "-{0} - 1",
    "text": "{0} || 'x'",
    "no UTF-8": "CAST(x'ff' AS TEXT)",
    "bytes": "CAST({0} AS BLOB)",
    "a fraction": "0.5",
}

OUTCOMES = {
    "another loss": "CASE {0} WHEN 'lost' THEN 'fenced' ELSE 'lost' END",
    "a win": "'won'",
    "unknown": "'annulled'",
}

REASONS = {
    "the other": "CASE {0} WHEN 'expired' THEN 'withdrawn' ELSE 'expired' END",
    "unknown": "'annulled'",
}

WINNERS, LOSERS, CLOSED = "interaction_resolutions", "losing_attempts", "closed_instances"

KINDS = {WINNERS: "winner", LOSERS: "losing attempt", CLOSED: "closed instance"}

LABELS = {name: edit for name, edit in TEXTS.items() if name != "upper case"}

EDITS = [
    (table, column, name, expression.format(column))
    for table, column, edits in [
        *((WINNERS, column, TEXTS) for column in ("workspace_key", "response_id")),
        (WINNERS, "idempotency_key", TEXTS),
        (WINNERS, "resolved_tick", NUMBERS),
        *((LOSERS, column, TEXTS) for column in ("instance_id", "workspace_key", "response_id")),
        *((LOSERS, column, NUMBERS) for column in ("position", "attempted_tick")),
        (LOSERS, "outcome", OUTCOMES | TEXTS),
        (LOSERS, "idempotency_key", TEXTS),
        (LOSERS, "submitted_by", LABELS),
        (CLOSED, "workspace_key", TEXTS),
        (CLOSED, "reason", REASONS | TEXTS),
        (CLOSED, "submitted_by", LABELS),
        (CLOSED, "closed_tick", NUMBERS),
    ]
    for name, expression in edits.items()
]

IDS = [" ".join(edit[:3]) for edit in EDITS]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """One for all tests, which damage it in turn. Its table of winners is an adopted one."""
    path = tmp_path_factory.mktemp("rows") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


def keys_of(ledger: Specimen, table: str) -> list[object]:
    """The keys of all rows that should be there."""
    return ledger.column(f"SELECT * FROM sound_{table} ORDER BY 1")  # noqa: S608


def key_of(table: str) -> str:
    """The column by which a row is found."""
    return "sequence" if table == LOSERS else "instance_id"


def changed(table: str, column: str, expression: object, key: object) -> str:
    """A statement that puts another value into a column of one row."""
    return f"UPDATE {table} SET {column} = {expression} WHERE {key_of(table)} = '{key}'"  # noqa: S608


def key_named(finding: Finding) -> object:
    """The row that a finding is about."""
    return finding.sequence if finding.kind == KINDS[LOSERS] else finding.instance


@pytest.mark.parametrize(("table", "column", "_", "expression"), EDITS, ids=IDS)
def test_every_edit_of_every_row_is_found_and_names_it(
    ledger: Specimen, table: str, column: str, _: str, expression: str
) -> None:
    """And nothing else is."""
    for key in keys_of(ledger, table):
        (finding,) = ledger.findings(changed(table, column, expression, key))
        assert finding.kind == KINDS[table]
        assert finding.expected != finding.found
        assert column in str(finding.found)
        if column != "instance_id":
            assert key_named(finding) == key


KEY_EDITS = [
    *(
        (table, name, expression.format("instance_id"))
        for table in (WINNERS, CLOSED)
        for name, expression in TEXTS.items()
    ),
    (WINNERS, "another", f"'{NOBODYS['instance']}'"),
    (CLOSED, "another", f"'{NOBODYS['instance']}'"),
    (WINNERS, "nothing", "NULL"),
    (LOSERS, "past the end", "sequence + 1000"),
    (LOSERS, "the greatest", str(GREATEST)),
    (LOSERS, "zero", "0"),
    (LOSERS, "negative", "-sequence"),
    (LOSERS, "the least", str(LEAST)),
]


@pytest.mark.parametrize(("table", "_", "expression"), KEY_EDITS)
def test_every_row_whose_key_was_edited_is_found(
    ledger: Specimen, table: str, _: str, expression: str
) -> None:
    """It is missing under its own key, and is one too many under the other."""
    for key in keys_of(ledger, table):
        findings = ledger.findings(changed(table, key_of(table), expression, key))
        assert {finding.kind for finding in findings} == {KINDS[table]}
        (missing,) = (f for f in findings if f.found is None)
        (added,) = (f for f in findings if f.expected is None)
        assert len(findings) == 2
        assert key_named(missing) == key
        assert key_of(table) in str(added.found)


@pytest.mark.parametrize("table", KINDS)
def test_every_row_that_is_missing_is_found(ledger: Specimen, table: str) -> None:
    """Also if all are."""
    keys = keys_of(ledger, table)
    for key in keys:
        (finding,) = ledger.findings(removal(table, f"{key_of(table)} = '{key}'"))
        assert (finding.kind, key_named(finding), finding.found) == (KINDS[table], key, None)
        assert str(key) in str(finding.expected)
    findings = ledger.findings(removal(table, "true"))
    assert [key_named(finding) for finding in findings] == keys


Key = str | bytes | int | None

TEXTS_OF_NO_ID = ["", "no id", "\U0010ffff", "no \udcff UTF-8", "\udcff"]

NO_INSTANCES: list[Key] = [NOBODYS["instance"], *TEXTS_OF_NO_ID, b"", b"\xff bytes"]

ADDED_KEYS: dict[str, list[Key]] = {
    WINNERS: [*NO_INSTANCES, instance(4).text, None],
    LOSERS: [0, -1, LEAST, LENGTH + 1, GREATEST],
    CLOSED: [*NO_INSTANCES, instance(0).text],
}


COLUMNS = {
    WINNERS: "workspace_key, response_id, idempotency_key, resolved_tick",
    LOSERS: """instance_id, position, outcome, workspace_key, response_id, idempotency_key,
               submitted_by, attempted_tick""",
    CLOSED: "workspace_key, reason, submitted_by, closed_tick",
}


def added(table: str, key: Key) -> str:
    """A statement that adds a row like one that is there, under another key."""
    return f"INSERT INTO {table} SELECT {sql(key)}, {COLUMNS[table]} FROM {table} LIMIT 1"  # noqa: S608


@pytest.mark.parametrize(
    ("table", "key"), [(table, key) for table, keys in ADDED_KEYS.items() for key in keys]
)
def test_every_row_that_was_added_is_found(ledger: Specimen, table: str, key: Key) -> None:
    """Whatever its key is, and however a page ends; a winner of what was closed, for one."""
    for size in (1000, 1, 2):
        with pytest.MonkeyPatch.context() as patch:
            read_by(patch, size)
            (finding,) = ledger.findings(added(table, key))
        assert (finding.kind, finding.expected) == (KINDS[table], None)
        assert f"{key_of(table)}={key!r}" in str(finding.found)


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_all_rows_that_were_added_are_found_together(
    ledger: Specimen, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of their keys."""
    read_by(monkeypatch, size)
    findings = ledger.findings(
        *(added(table, key) for table, keys in ADDED_KEYS.items() for key in keys)
    )
    assert len(findings) == sum(map(len, ADDED_KEYS.values()))
    assert {finding.expected for finding in findings} == {None}
    numbers = [f.sequence for f in findings if f.kind == "losing attempt"]
    assert numbers == sorted(numbers, key=lambda number: number or 0)


def test_more_rows_without_a_key_than_a_page_holds_hide_nothing(
    ledger: Specimen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that was adopted can have as many as somebody puts there."""
    read_by(monkeypatch, 2)
    keys = keys_of(ledger, WINNERS)
    edits = [changed(WINNERS, "workspace_key", "'elsewhere'", key) for key in keys]
    findings = ledger.findings(*[added(WINNERS, None)] * 5, *edits)
    assert {finding.kind for finding in findings} == {"winner"}
    assert [f.instance for f in findings if f.expected] == keys
    assert [f for f in findings if not f.expected]


def test_two_rows_that_were_exchanged_are_both_found(ledger: Specimen) -> None:
    """By all that they say, except for their keys."""
    for table in KINDS:
        one, *_, other = keys_of(ledger, table)
        findings = ledger.findings(
            changed(table, key_of(table), "'-7'", one),
            changed(table, key_of(table), f"'{one}'", other),
            changed(table, key_of(table), f"'{other}'", -7),
        )
        assert [key_named(finding) for finding in findings] == [one, other]
