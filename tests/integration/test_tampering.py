"""Events that were edited one by one, past the guards: each is found, and named.

``TAMPERED_EVENTS=200`` makes the sample of the larger ledger that large and tries every edit
on each of its events; that takes some twenty minutes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from random import Random
from typing import get_args

import pytest

from integration.edits import ALL_EDITS, EDITS
from integration.tampering import (
    Specimen,
    edit,
    make_ledger,
    sequences,
    sql,
)
from resolution_ledger.domain.records import Outcome

SAMPLE = int(os.environ.get("TAMPERED_EVENTS", "0"))

LENGTH, LARGER = 28, 2_000


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


@pytest.mark.parametrize("tag", get_args(Outcome))
def test_every_byte_of_an_event_counts(small: Specimen, tag: str) -> None:
    """In each kind of them."""
    small.damage()
    ((sequence, size),) = small.connection.execute(
        "SELECT max(sequence), length(state) FROM resolution_events WHERE topic = ?", (tag,)
    )
    for at in range(size):
        findings = small.findings(edit("state", f"flip(state, {at})", sequence))
        assert sequence in sequences(findings), at


def _other_reason(state: bytes) -> bytes:
    expired, withdrawn = b"\xa7expired", b"\xa9withdrawn"
    return state.replace(*((expired, withdrawn) if expired in state else (withdrawn, expired)))


def test_a_reason_that_was_exchanged_is_found(small: Specimen) -> None:
    """In whatever a withdrawal came to."""
    small.damage()
    withdrawals = small.connection.execute(
        "SELECT sequence, state FROM resolution_events"
        " WHERE topic = 'closed' OR topic LIKE 'withdrawal-%'"
    ).fetchall()
    assert len(withdrawals) > 4
    for sequence, state in withdrawals:
        findings = small.findings(edit("state", sql(_other_reason(state)), sequence))
        assert sequence in sequences(findings)


def test_edits_of_some_events_of_a_larger_ledger_are_found_and_name_them(larger: Specimen) -> None:
    """A few in every run, and all edits of so many events as the environment says."""
    draw = Random(3)  # noqa: S311 (a reproducible draw, no secret)
    edits = [(*draw.choice(ALL_EDITS), draw.randint(1, LARGER)) for _ in range(40)]
    for sequence in draw.sample(range(1, LARGER + 1), SAMPLE):
        edits += [(*edit, sequence) for edit in ALL_EDITS]
    found = [missed(larger, *edit) for edit in edits]
    assert found == [None] * len(edits)


@pytest.mark.parametrize("name", EDITS["fingerprint"])
def test_an_edit_that_changes_nothing_for_other_events_is_one_finding(
    small: Specimen, name: str
) -> None:
    """Of whatever type the value is: those that come after it go on from its hash."""
    (finding,) = small.findings(edit("fingerprint", EDITS["fingerprint"][name], 9))
    assert finding.sequence == 9


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
