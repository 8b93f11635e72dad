"""Events that were removed, added or exchanged, past the guards: each is found, and named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from integration.tampering import (
    LEAST,
    NOBODYS,
    Specimen,
    edit,
    make_ledger,
    removal,
    sequences,
    sql,
)
from resolution_ledger import Finding
from samples import instance

LENGTH = 33

EVENTS = range(1, LENGTH + 1)

PAIRS = [*pairwise(EVENTS), (1, LENGTH), (2, 30), (7, 19), (25, 8)]


HASH_OF_THE_PLACE = """
    (SELECT hash FROM sound_resolution_events AS had
      WHERE had.sequence = resolution_events.sequence)
"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """One for all tests, which damage it in turn."""
    path = tmp_path_factory.mktemp("log") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


def moved(sequence: int, by: int) -> list[str]:
    """Statements that give all events from this one on other sequences."""
    return [
        f"UPDATE resolution_events SET sequence = -(sequence + {by}) WHERE sequence >= {sequence}",  # noqa: S608
        "UPDATE resolution_events SET sequence = -sequence WHERE sequence < 0",
    ]


def copied(sequence: int, stream: str, position: int, original: int) -> str:
    """A statement that adds an event like another one, but for its place."""
    return f"""
        INSERT INTO resolution_events
        SELECT {sequence}, {sql(stream)}, {position}, topic, state, fingerprint, hash
          FROM resolution_events WHERE sequence = {original}
    """  # noqa: S608


def exchanged(column: str, one: int, other: int) -> str:
    """A statement that gives each of two events what the other had in a column."""
    had = f"""
        (SELECT {column} FROM sound_resolution_events AS had
          WHERE had.sequence = {one} + {other} - resolution_events.sequence)
    """  # noqa: S608
    return edit(column, had, one) + f" OR sequence = {other}"


def named(findings: tuple[Finding, ...], sequence: int, stream: str) -> bool:
    """Whether they name the event, or the row that a win or a closing should have."""
    kinds = {"winner", "closed instance"}
    firsts = {finding.instance for finding in findings if finding.kind in kinds}
    return sequence in sequences(findings) or stream in firsts


def of(ledger: Specimen, column: str) -> dict[int, object]:
    """What each event has in a column, by sequence."""
    return dict(
        ledger.connection.execute(f"SELECT sequence, {column} FROM sound_resolution_events")  # noqa: S608
    )


@pytest.mark.parametrize("gap", ["left", "closed"])
def test_every_event_that_is_gone_is_found(ledger: Specimen, gap: str) -> None:
    """The last one by its row, each other one by those that came after it as well."""
    for n, stream in of(ledger, "originator_id").items():
        close_gap = moved(n + 1, -1) if gap == "closed" and n < LENGTH else []
        findings = ledger.findings(removal("resolution_events", f"sequence = {n}"), *close_gap)
        assert named(findings, n, str(stream)), n
        gaps = [finding for finding in findings if finding.kind == "sequence"]
        assert len(gaps) == (gap == "left" and n < LENGTH), "one gap is one finding"


def test_an_event_that_is_gone_with_its_row_is_found(ledger: Specimen) -> None:
    """By those that came after it."""
    tags = of(ledger, "topic")
    for n, stream in of(ledger, "originator_id").items():
        rows = [removal("losing_attempts", f"sequence = {n}")]
        if tags[n] in {"won", "adopted"}:
            rows = [removal("interaction_resolutions", f"instance_id = '{stream}'")]
        elif tags[n] == "closed":
            rows = [removal("closed_instances", f"instance_id = '{stream}'")]
        elif str(tags[n]).startswith("withdrawal-"):
            rows = []  # it has none
        if n < LENGTH:
            findings = ledger.findings(removal("resolution_events", f"sequence = {n}"), *rows)
            assert n in sequences(findings), n


def test_any_two_events_that_were_exchanged_are_found(ledger: Specimen) -> None:
    """Both of them, also where the hashes stay in their places."""
    for one, other in PAIRS:
        swap = [edit("sequence", *places) for places in ((-1, one), (one, other), (other, -1))]
        assert {one, other} <= sequences(ledger.findings(*swap)), (one, other)
        hashes_stay = [edit("hash", HASH_OF_THE_PLACE, n) for n in (one, other)]
        assert {one, other} <= sequences(ledger.findings(*swap, *hashes_stay)), (one, other)


@pytest.mark.parametrize("column", ["state", "hash", "fingerprint", "topic"])
def test_what_two_events_exchanged_in_one_column_is_found(ledger: Specimen, column: str) -> None:
    """Wherever they differ in it."""
    values = of(ledger, column)
    pairs = [(one, other) for one, other in PAIRS if values[one] != values[other]]
    assert pairs
    for one, other in pairs:
        findings = ledger.findings(exchanged(column, one, other))
        assert {one, other} <= sequences(findings), (one, other)


def test_two_events_of_an_instance_that_exchanged_their_positions_are_found(
    ledger: Specimen,
) -> None:
    """Also if no other column of theirs was touched."""
    at: dict[object, dict[object, int]] = {}
    positions = of(ledger, "originator_version")
    for n, stream in of(ledger, "originator_id").items():
        at.setdefault(stream, {})[positions[n]] = n
    pairs = [(places[n], places[n + 1]) for places in at.values() for n in range(1, len(places))]
    assert len(pairs) > 10
    for one, other in pairs:
        findings = ledger.findings(
            edit("originator_version", -1, one),
            edit("originator_version", positions[one], other),
            edit("originator_version", positions[other], one),
        )
        assert {one, other} <= sequences(findings), (one, other)


STRANGER = NOBODYS["instance"]

ROW = f"""
    INSERT INTO interaction_resolutions
    SELECT '{STRANGER}', workspace_key, response_id, idempotency_key, resolved_tick
      FROM interaction_resolutions WHERE instance_id = '{instance(0)}'
"""  # noqa: S608

CLOSED, CLOSING = instance(4), 5
"""An instance that was closed, and the sequence of what closed it."""

CLOSED_ROW = f"""
    INSERT INTO closed_instances
    SELECT '{STRANGER}', workspace_key, reason, submitted_by, closed_tick
      FROM closed_instances WHERE instance_id = '{CLOSED}'
"""  # noqa: S608

WINS: dict[str, tuple[int, list[str]]] = {
    "at the end": (LENGTH + 1, [copied(LENGTH + 1, STRANGER, 1, 1)]),
    "past the end": (LENGTH + 8, [copied(LENGTH + 8, STRANGER, 1, 1)]),
    "in the middle": (9, [*moved(9, 1), copied(9, STRANGER, 1, 1)]),
    "at the beginning": (1, [*moved(1, 1), copied(1, STRANGER, 1, 2)]),
    "at sequence 0": (0, [copied(0, STRANGER, 1, 1)]),
    "at sequence -1": (-1, [copied(-1, STRANGER, 1, 1)]),
    "at the least sequence": (LEAST, [copied(LEAST, STRANGER, 1, 1)]),
}


@pytest.mark.parametrize(("place", "statements"), WINS.values(), ids=WINS)
@pytest.mark.parametrize("row", [[], [ROW]], ids=["without a row", "with its row"])
def test_a_win_that_was_added_is_found(
    ledger: Specimen, place: int, statements: list[str], row: list[str]
) -> None:
    """Also if the row that it demands was added with it."""
    findings = ledger.findings(*statements, *row)
    assert {f.kind for f in findings if f.sequence == place} & {"hash", "sequence"}


CLOSINGS: dict[str, tuple[int, list[str]]] = {
    "at the end": (LENGTH + 1, [copied(LENGTH + 1, STRANGER, 1, CLOSING)]),
    "in the middle": (9, [*moved(9, 1), copied(9, STRANGER, 1, CLOSING)]),
    "at the beginning": (1, [*moved(1, 1), copied(1, STRANGER, 1, CLOSING + 1)]),
    "at sequence 0": (0, [copied(0, STRANGER, 1, CLOSING)]),
}


@pytest.mark.parametrize(("place", "statements"), CLOSINGS.values(), ids=CLOSINGS)
@pytest.mark.parametrize("row", [[], [CLOSED_ROW]], ids=["without a row", "with its row"])
def test_a_closing_that_was_added_is_found(
    ledger: Specimen, place: int, statements: list[str], row: list[str]
) -> None:
    """As a win is."""
    findings = ledger.findings(*statements, *row)
    assert {f.kind for f in findings if f.sequence == place} & {"hash", "sequence"}


@pytest.mark.parametrize("row", [[], [CLOSED_ROW]], ids=["without a row", "with its row"])
def test_a_win_that_was_turned_into_a_closing_is_found(ledger: Specimen, row: list[str]) -> None:
    """And a closing that was turned into a win, whatever becomes of the rows."""
    for n, other in ((7, CLOSING), (CLOSING, 7)):
        had = "(SELECT {} FROM sound_resolution_events AS had WHERE had.sequence = {})"
        turned = [edit(column, had.format(column, other), n) for column in ("topic", "state")]
        assert n in sequences(ledger.findings(*turned, *row))


LATER_EVENTS: dict[str, tuple[int, list[str]]] = {
    "at the end of a stream": (LENGTH + 1, [copied(LENGTH + 1, instance(0).text, 99, 10)]),
    "in the middle": (9, [*moved(9, 1), copied(9, instance(0).text, 99, 11)]),
    "at position 0": (LENGTH + 1, [copied(LENGTH + 1, instance(0).text, 0, 10)]),
    "at a negative position": (LENGTH + 1, [copied(LENGTH + 1, instance(0).text, -1, 10)]),
    "at sequence 0": (0, [copied(0, instance(0).text, 99, 10)]),
    "at the least sequence": (LEAST, [copied(LEAST, instance(0).text, LEAST, 10)]),
    "at the end of a closed stream": (LENGTH + 1, [copied(LENGTH + 1, CLOSED.text, 99, 6)]),
    "a withdrawal that was late": (LENGTH + 1, [copied(LENGTH + 1, CLOSED.text, 99, 10)]),
    "a withdrawal that was lost": (LENGTH + 1, [copied(LENGTH + 1, instance(0).text, 99, 9)]),
}


@pytest.mark.parametrize(("place", "statements"), LATER_EVENTS.values(), ids=LATER_EVENTS)
def test_a_later_event_that_was_added_is_found(
    ledger: Specimen, place: int, statements: list[str]
) -> None:
    """Wherever it stands."""
    findings = ledger.findings(*statements)
    assert {f.kind for f in findings if f.sequence == place} >= {"hash"}


def test_each_of_many_faults_is_found(ledger: Specimen) -> None:
    """Verify goes on after a finding."""
    damaged = {4: "topic", 5: "state", 6: "hash", 17: "originator_id", 31: "originator_version"}
    statements = [edit(column, "'x'", n) for n, column in damaged.items()]
    missing = removal("resolution_events", "sequence IN (9, 21, 22)")
    found = sequences(ledger.findings(*statements, missing))
    assert found >= {*damaged, 9, 21}
