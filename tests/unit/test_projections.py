"""The read models: each attempt on record is one row in one table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import get_args

import pytest
from msgspec.structs import asdict

from resolution_ledger import RecordedAttempt
from resolution_ledger.domain.records import LOSING, WINNING, Outcome
from resolution_ledger.infra.sqlite.schema import migrate
from resolution_ledger.projections.losing_attempts import LosingAttemptRow, losing_attempt_row
from resolution_ledger.projections.winners import WinnerRow, winner_row
from samples import WORKSPACE, instance, key, response

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def attempt(outcome: Outcome) -> RecordedAttempt:
    """An attempt in which no two facts are alike."""
    return RecordedAttempt(
        instance=instance(0),
        position=3,
        sequence=7,
        outcome=outcome,
        response=response(1),
        idempotency_key=key(2),
        submitted_by="tty",
        workspace=WORKSPACE,
        tick=-5,
    )


@pytest.fixture
def schema() -> Iterator[sqlite3.Connection]:
    """A fresh one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, 0)
        yield connection


def test_there_are_six_outcomes() -> None:
    """Each is tried below."""
    assert set(OUTCOMES) == {"won", "adopted", "lost", "replayed", "conflicted", "fenced"}


def test_an_outcome_wins_or_loses() -> None:
    """There is no third kind, whose attempts would be in no table."""
    assert {"won", "adopted"} == WINNING
    assert set(OUTCOMES) - WINNING == LOSING


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_attempt_is_one_row_in_one_table(outcome: Outcome) -> None:
    """Among the winners if it won, else among the losing attempts."""
    wins = outcome in ("won", "adopted")
    assert (winner_row(attempt(outcome)) is not None) is wins
    assert (losing_attempt_row(attempt(outcome)) is not None) is not wins


@pytest.mark.parametrize("outcome", ["won", "adopted"])
def test_a_winner_row_says_who_won_an_instance(outcome: Outcome) -> None:
    """As the plain values that its columns hold."""
    row = winner_row(attempt(outcome))
    assert row is not None
    assert asdict(row) == {
        "instance_id": instance(0).text,
        "workspace_key": WORKSPACE,
        "response_id": response(1).text,
        "idempotency_key": "key-2",
        "resolved_tick": -5,
    }


@pytest.mark.parametrize("outcome", ["lost", "replayed", "conflicted", "fenced"])
def test_a_losing_row_says_all_that_the_log_says(outcome: Outcome) -> None:
    """As the plain values that its columns hold."""
    row = losing_attempt_row(attempt(outcome))
    assert row is not None
    assert asdict(row) == {
        "instance_id": instance(0).text,
        "position": 3,
        "sequence": 7,
        "outcome": outcome,
        "workspace_key": WORKSPACE,
        "response_id": response(1).text,
        "idempotency_key": "key-2",
        "submitted_by": "tty",
        "attempted_tick": -5,
    }


@pytest.mark.parametrize(
    ("row", "table"),
    [(WinnerRow, "interaction_resolutions"), (LosingAttemptRow, "losing_attempts")],
)
def test_the_fields_of_a_row_are_the_columns_of_its_table_in_order(
    row: type[WinnerRow | LosingAttemptRow], table: str, schema: sqlite3.Connection
) -> None:
    """They are bound by position."""
    columns = schema.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,))
    assert row.__struct_fields__ == tuple(name for (name,) in columns)
