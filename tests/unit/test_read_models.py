"""Read models as an audit sees them: which rows differ, in which order keys stand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import permutations
from typing import get_args

import pytest

from resolution_ledger import Finding, RecordedAttempt
from resolution_ledger.domain.records import Outcome
from resolution_ledger.projections.read_models import (
    CLOSED_INSTANCES,
    LOSING_ATTEMPTS,
    READ_MODELS,
    WINNERS,
    Key,
    ReadModel,
    difference_found,
    differing,
    order,
)
from resolution_ledger.projections.report import FindingKind
from samples import WORKSPACE, instance, key, response

IN_ORDER: list[Key] = [
    None,
    -(2**63),
    -1,
    0,
    1,
    2**63 - 1,
    "",
    "\0",
    "A",
    "Z",
    "a",
    "a\0",
    "aa",
    "b",
    "\u00e9",
    "\uffff",
    "\U0010ffff",
    "\udcff",
    b"",
    b"\0",
    b"a",
    b"\xff",
]
"""The text that ends in a surrogate stands for the byte FF, which no UTF-8 has."""


def test_keys_stand_in_the_order_in_which_a_database_keeps_them() -> None:
    """Nothing, numbers, texts by their bytes, bytes: whatever a damaged table holds."""
    places = [order(key) for key in IN_ORDER]
    assert places == sorted(set(places))


def test_that_is_the_order_of_sqlite() -> None:
    """By its own account."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        connection.execute("CREATE TABLE keys (key)")
        for value in reversed(IN_ORDER):
            if isinstance(value, str):
                raw = value.encode(errors="surrogateescape")
                connection.execute("INSERT INTO keys VALUES (CAST(? AS TEXT))", (raw,))
            else:
                connection.execute("INSERT INTO keys VALUES (?)", (value,))
        rows = connection.execute("SELECT key FROM keys ORDER BY key").fetchall()
    assert [value for (value,) in rows] == IN_ORDER


ROW, OTHER = ("a", 1), ("a", 2)


def test_a_fraction_is_no_number_of_a_ledger() -> None:
    """Not even one that Python takes for the number: other readers may not."""
    assert differing({1: (1, 2)}, {1: (1, 2.0)}) == {1}


def test_rows_differ_that_are_missing_added_or_other_than_they_should_be() -> None:
    """Each is named by its key."""
    assert differing({}, {}) == set()
    assert differing({"a": ROW}, {"a": ROW}) == set()
    assert differing({"a": ROW}, {}) == {"a"}
    assert differing({}, {"a": ROW}) == {"a"}
    assert differing({"a": ROW}, {"a": OTHER}) == {"a"}
    assert differing({"a": ROW, "b": ROW, "c": ROW}, {"a": OTHER, "c": ROW, "d": ROW}) == {
        "a",
        "b",
        "d",
    }


@pytest.mark.parametrize(
    ("one", "other"), list(permutations(["1", b"1", 1, None, "\udcff", b"\xff", 1.5], 2))
)
def test_a_value_of_another_type_is_another_value(one: object, other: object) -> None:
    """Also as a key."""
    assert differing({"a": ("a", one)}, {"a": ("a", other)}) == {"a"}
    if not isinstance(one, float) and not isinstance(other, float):
        found = differing({one: (one,)}, {other: (other,)})  # type: ignore[dict-item]
        assert found == {one, other}


def attempt(outcome: Outcome) -> RecordedAttempt:
    """An attempt or withdrawal in which no two facts are alike."""
    withdrawn = outcome == "closed" or outcome.startswith("withdrawal-")
    return RecordedAttempt(
        instance(0),
        3,
        7,
        outcome,
        None if withdrawn else response(1),
        None if withdrawn else key(2),
        "tty",
        WORKSPACE,
        -5,
        "expired" if withdrawn else None,
    )


DEMANDED: dict[str, list[str]] = {
    "interaction_resolutions": ["won", "adopted"],
    "losing_attempts": ["lost", "replayed", "conflicted", "fenced", "late"],
    "closed_instances": ["closed"],
}
"""The outcomes that demand a row of each table. The others demand none."""


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_an_event_demands_a_row_of_one_of_them_at_most(outcome: Outcome) -> None:
    """A withdrawal that closed nothing demands none."""
    demanded = {m.table: m.demanded(attempt(outcome)) for m in READ_MODELS}
    assert demanded.keys() == DEMANDED.keys()
    assert [table for table, row in demanded.items() if row is not None] == [
        table for table, outcomes in DEMANDED.items() if outcome in outcomes
    ]


@pytest.mark.parametrize("model", READ_MODELS, ids=lambda model: model.table)
def test_a_model_names_the_outcomes_that_demand_its_rows(model: ReadModel) -> None:
    """An audit reads only their events."""
    assert model.outcomes == set(DEMANDED[model.table])
    for outcome in get_args(Outcome):
        assert (model.demanded(attempt(outcome)) is not None) is (outcome in model.outcomes)


def test_rows_are_found_by_their_first_column() -> None:
    """The instance that was won or closed, or the sequence of the attempt."""
    won, lost = WINNERS.demanded(attempt("won")), LOSING_ATTEMPTS.demanded(attempt("lost"))
    closed = CLOSED_INSTANCES.demanded(attempt("closed"))
    assert won == (instance(0).text, WORKSPACE, response(1).text, "key-2", -5)
    assert closed == (instance(0).text, WORKSPACE, "expired", "tty", -5)
    assert lost is not None
    assert lost[:2] == (7, instance(0).text)
    assert [(model.key, model.columns[0]) for model in READ_MODELS] == [
        ("sequence", "sequence"),
        ("instance", "instance_id"),
        ("instance", "instance_id"),
    ]
    assert len(won) == len(WINNERS.columns)
    assert len(lost) == len(LOSING_ATTEMPTS.columns)
    assert len(closed) == len(CLOSED_INSTANCES.columns)


@pytest.mark.parametrize("model", READ_MODELS)
def test_what_a_row_is_called_is_a_kind_of_finding(model: ReadModel) -> None:
    """So that whoever reads findings knows it."""
    assert model.kind in get_args(FindingKind)


def test_a_difference_names_the_row_and_shows_both() -> None:
    """Column by column; nothing where there is, or should be, none."""
    (row, other) = (("x", "ws", "r", "k", tick) for tick in (1, 2))
    text = "instance_id='x', workspace_key='ws', response_id='r', idempotency_key='k', "
    expected, found = f"{text}resolved_tick=1", f"{text}resolved_tick=2"
    for rows, texts in (
        ((row, other), (expected, found)),
        ((row, None), (expected, None)),
        ((None, other), (None, found)),
    ):
        assert difference_found(WINNERS, "x", *rows) == Finding("winner", None, "x", *texts)


def test_a_difference_of_a_closed_instance_names_the_instance() -> None:
    """As one of a winner does."""
    expected = "instance_id='x', workspace_key='ws', reason='expired', submitted_by='', "
    found = difference_found(CLOSED_INSTANCES, "x", ("x", "ws", "expired", "", 1), None)
    assert found == Finding("closed instance", None, "x", f"{expected}closed_tick=1", None)


def test_a_difference_of_a_losing_attempt_names_its_sequence() -> None:
    """And the instance, as far as it can be read."""
    row = LOSING_ATTEMPTS.demanded(attempt("lost"))
    assert row is not None
    for damaged in (b"bytes", None, 5):
        found = (7, damaged, *row[2:])
        both = difference_found(LOSING_ATTEMPTS, 7, row, found)
        assert (both.kind, both.sequence, both.instance) == (
            "losing attempt",
            7,
            instance(0).text,
        )
        assert difference_found(LOSING_ATTEMPTS, 7, None, found).instance is None
