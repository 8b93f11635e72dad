"""Events that were edited one by one, past the guards: each is found, and named.

``TAMPERED_EVENTS=200`` makes the sample of the larger ledger that large and tries every edit
on each of its events; that takes a quarter of an hour.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from random import Random

import pytest

from integration.tampering import (
    GREATEST,
    LEAST,
    NOBODYS,
    Specimen,
    edit,
    make_ledger,
    sequences,
    sql,
)

SAMPLE = int(os.environ.get("TAMPERED_EVENTS", "0"))

LENGTH, LARGER = 32, 2_000

RAW = "CAST(CAST({} AS BLOB) || x'ff' AS TEXT)"
"""The text of a column with something behind it that is no UTF-8."""

OTHER_STREAM = f"""
    coalesce((SELECT there.originator_id FROM resolution_events AS there
               WHERE there.originator_id <> resolution_events.originator_id
                 AND NOT EXISTS (SELECT 1 FROM resolution_events AS taken
                                  WHERE taken.originator_id = there.originator_id
                                    AND taken.originator_version
                                        = resolution_events.originator_version)),
             '{NOBODYS["instance"]}')
"""  # noqa: S608

ANOTHER = """
    (SELECT there.{0} FROM resolution_events AS there
      WHERE there.sequence <> resolution_events.sequence AND there.{0} <> resolution_events.{0})
"""

EDITS = {
    "sequence": {
        "past the end": "sequence + 1000000",
        "the greatest": str(GREATEST),
        "zero": "0",
        "negative": "-sequence",
        "the least": str(LEAST),
    },
    "originator_id": {
        "of another stream": OTHER_STREAM,
        "of no stream": f"'{NOBODYS['instance']}'",
        "upper case": "upper(originator_id)",
        "a space behind it": "originator_id || ' '",
        "a NUL behind it": "originator_id || char(0)",
        "no id": "'no id'",
        "empty": "''",
        "no UTF-8": RAW.format("originator_id"),
        "no UTF-8 alone": "CAST(x'ff' AS TEXT)",
        "bytes": "CAST(originator_id AS BLOB)",
        "no bytes": "x''",
    },
    "originator_version": {
        "the next but many": "originator_version + 1000",
        "zero": "0",
        "negative": "-originator_version",
        "the greatest": str(GREATEST),
        "the least": str(LEAST),
        "a fraction": "originator_version + 0.5",
        "text": "originator_version || 'x'",
        "empty text": "''",
        "no UTF-8": "CAST(x'ff' AS TEXT)",
        "bytes": "CAST(originator_version AS BLOB)",
    },
    "topic": {
        "a win": "CASE topic WHEN 'won' THEN 'adopted' ELSE 'won' END",
        "a loss": "CASE topic WHEN 'lost' THEN 'replayed' ELSE 'lost' END",
        "a refusal": "CASE topic WHEN 'fenced' THEN 'conflicted' ELSE 'fenced' END",
        "unknown": "'annulled'",
        "upper case": "upper(topic)",
        "a space behind it": "topic || ' '",
        "a NUL behind it": "topic || char(0)",
        "empty": "''",
        "no UTF-8": RAW.format("topic"),
        "bytes": "CAST(topic AS BLOB)",
    },
    "state": {
        "a bit of the head": "flip(state, 0)",
        "a bit of the version": "flip(state, 1)",
        "a bit of the response": "flip(state, 40)",
        "a bit of the workspace": "flip(state, 64)",
        "a bit of the key": "flip(state, 69)",
        "a bit of the label or before it": "flip(state, -11)",
        "a bit of the tick": "flip(state, -1)",
        "longer": "CAST(state || x'00' AS BLOB)",
        "shorter": "substr(state, 1, length(state) - 1)",
        "of another event": ANOTHER.format("state"),
        "empty": "x''",
        "empty text": "''",
        "the same in base64": "base64(state)",
        "other base64": "'AAAA'",
        "the same as text": "CAST(state AS TEXT)",
        "text": "'some text'",
        "a number": "5",
        "a fraction": "0.5",
    },
    "fingerprint": {
        "another": "CASE fingerprint WHEN 0 THEN 1 ELSE 0 END",
        "of another event": ANOTHER.format("fingerprint"),
        "text": "'x'",
        "no UTF-8": "CAST(x'ff' AS TEXT)",
        "bytes": "x''",
        "a fraction": "0.5",
    },
    "hash": {
        "the first bit": "flip(hash, 0)",
        "the last bit": "flip(hash, -1)",
        "of another event": ANOTHER.format("hash"),
        "zeros": "zeroblob(32)",
        "longer": "CAST(hash || x'00' AS BLOB)",
        "shorter": "substr(hash, 1, 31)",
        "empty": "x''",
        "empty text": "''",
        "the same in base64": "base64(hash)",
        "other base64": "'AAAA'",
        "text": "'some text'",
        "no UTF-8": "CAST(x'ff' AS TEXT)",
        "a number": "5",
        "a fraction": "0.5",
    },
}

ALL_EDITS = [(column, name) for column, edits in EDITS.items() for name in edits]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """Small enough for every edit of every event."""
    path = tmp_path_factory.mktemp("small") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """One that is read by pages."""
    path = tmp_path_factory.mktemp("larger") / "ledger.db"
    make_ledger(path, LARGER)
    with Specimen(path) as specimen:
        yield specimen


def missed(specimen: Specimen, column: str, name: str, sequence: int) -> str | None:
    """The edit as a statement, if what is found after it does not name the event."""
    statement = edit(column, EDITS[column][name], sequence)
    findings = specimen.findings(statement)
    return None if sequence in sequences(findings) else statement


@pytest.mark.parametrize(("column", "name"), ALL_EDITS)
def test_every_edit_of_every_event_is_found_and_names_it(
    small: Specimen, column: str, name: str
) -> None:
    """By its sequence; where that was edited, by the one that is missing."""
    found = [missed(small, column, name, n) for n in range(1, LENGTH + 1)]
    assert found == [None] * LENGTH


@pytest.mark.parametrize("tag", ["won", "adopted", "lost", "replayed", "conflicted", "fenced"])
def test_every_byte_of_an_event_counts(small: Specimen, tag: str) -> None:
    """In each kind of them."""
    small.damage()
    ((sequence, size),) = small.connection.execute(
        "SELECT max(sequence), length(state) FROM resolution_events WHERE topic = ?", (tag,)
    )
    for at in range(size):
        findings = small.findings(edit("state", f"flip(state, {at})", sequence))
        assert sequence in sequences(findings), at


def test_edits_of_some_events_of_a_larger_ledger_are_found_and_name_them(larger: Specimen) -> None:
    """A few in every run, and all edits of so many events as the environment says."""
    draw = Random(3)  # noqa: S311 (a reproducible draw, no secret)
    edits = [(*draw.choice(ALL_EDITS), draw.randint(1, LARGER)) for _ in range(40)]
    for sequence in draw.sample(range(1, LARGER + 1), SAMPLE):
        edits += [(*edit, sequence) for edit in ALL_EDITS]
    found = [missed(larger, *edit) for edit in edits]
    assert found == [None] * len(edits)


@pytest.mark.parametrize("column", EDITS)
def test_no_column_of_an_event_can_be_without_a_value(small: Specimen, column: str) -> None:
    """The database itself refuses it."""
    with pytest.raises(sqlite3.IntegrityError):
        small.damage(edit(column, "NULL", 9))


def test_no_sequence_can_be_anything_but_a_number(small: Specimen) -> None:
    """The database itself refuses it."""
    for value in ("x", b"9", "no \udcff UTF-8"):
        with pytest.raises(sqlite3.IntegrityError):
            small.damage(edit("sequence", sql(value), 9))


@pytest.mark.parametrize("which", ["small", "larger"])
def test_on_an_untouched_ledger_nothing_is_found(
    request: pytest.FixtureRequest, which: str
) -> None:
    """Whose guards were dropped, and put back as they were."""
    specimen: Specimen = request.getfixturevalue(which)
    specimen.damage()
    report = specimen.admin.verify(specimen.admin.checkpoint())
    assert report.clean
    assert (report.findings, report.length) == ((), specimen.length)
