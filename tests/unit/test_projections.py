"""The read models: each event on record is one row in one table at most."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import get_args

import pytest
from msgspec.structs import asdict

from resolution_ledger import RecordedAttempt
from resolution_ledger.domain.records import FIRST, LOSING, WINNING, Outcome
from resolution_ledger.infra.sqlite.schema import migrate
from resolution_ledger.projections.closed_instances import ClosedInstanceRow, closed_instance_row
from resolution_ledger.projections.losing_attempts import LosingAttemptRow, losing_attempt_row
from resolution_ledger.projections.winners import WinnerRow, winner_row
from samples import WORKSPACE, instance, key, response

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
OF_WITHDRAWALS = {"closed", "withdrawal-lost", "withdrawal-fenced", "withdrawal-late"}

TABLES: dict[Outcome, str | None] = {
    "won": "winners",
    "adopted": "winners",
    "closed": "closed instances",
    "lost": "losing attempts",
    "replayed": "losing attempts",
    "conflicted": "losing attempts",
    "fenced": "losing attempts",
    "late": "losing attempts",
    "withdrawal-lost": None,
    "withdrawal-fenced": None,
    "withdrawal-late": None,
}
"""Where an event of each outcome has its row."""


def attempt(outcome: Outcome) -> RecordedAttempt:
    """An attempt or withdrawal in which no two facts are alike."""
    withdrawn = outcome in OF_WITHDRAWALS
    return RecordedAttempt(
        instance=instance(0),
        position=3,
        sequence=7,
        outcome=outcome,
        response=None if withdrawn else response(1),
        idempotency_key=None if withdrawn else key(2),
        submitted_by="tty",
        workspace=WORKSPACE,
        tick=-5,
        reason="expired" if withdrawn else None,
    )


@pytest.fixture
def schema() -> Iterator[sqlite3.Connection]:
    """A fresh one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, 0)
        yield connection


def test_there_are_eleven_outcomes() -> None:
    """Each is tried below."""
    assert set(OUTCOMES) == set(TABLES)
    assert len(OUTCOMES) == 11


def test_an_attempt_wins_or_loses_and_a_withdrawal_does_neither() -> None:
    """There is no third kind, whose attempts would be in no table."""
    assert {"won", "adopted"} == WINNING
    assert set(OUTCOMES) - WINNING - OF_WITHDRAWALS == LOSING


def test_an_instance_begins_with_a_win_or_is_closed() -> None:
    """By nothing else."""
    assert WINNING | {"closed"} == FIRST


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_event_is_one_row_in_one_table_at_most(outcome: Outcome) -> None:
    """A withdrawal that closed nothing is in the log alone."""
    rows = {
        "winners": winner_row(attempt(outcome)),
        "losing attempts": losing_attempt_row(attempt(outcome)),
        "closed instances": closed_instance_row(attempt(outcome)),
    }
    there = [table for table, row in rows.items() if row is not None]
    assert there == ([] if TABLES[outcome] is None else [TABLES[outcome]])


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


@pytest.mark.parametrize("outcome", ["lost", "replayed", "conflicted", "fenced", "late"])
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


def test_a_closed_row_says_who_closed_an_instance_and_why() -> None:
    """As the plain values that its columns hold."""
    row = closed_instance_row(attempt("closed"))
    assert row is not None
    assert asdict(row) == {
        "instance_id": instance(0).text,
        "workspace_key": WORKSPACE,
        "reason": "expired",
        "submitted_by": "tty",
        "closed_tick": -5,
    }


@pytest.mark.parametrize(
    ("row", "table"),
    [
        (WinnerRow, "interaction_resolutions"),
        (LosingAttemptRow, "losing_attempts"),
        (ClosedInstanceRow, "closed_instances"),
    ],
)
def test_the_fields_of_a_row_are_the_columns_of_its_table_in_order(
    row: type[WinnerRow | LosingAttemptRow | ClosedInstanceRow],
    table: str,
    schema: sqlite3.Connection,
) -> None:
    """They are bound by position."""
    columns = schema.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,))
    assert row.__struct_fields__ == tuple(name for (name,) in columns)
