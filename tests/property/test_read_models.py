"""The read models over whole histories: at each step they are what the log demands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from paging import read_by
from resolution_ledger import InstanceId, LedgerAdmin, RecordedAttempt
from resolution_ledger.domain.events import Attempt, Withdrawal
from resolution_ledger.infra.database import Database
from resolution_ledger.infra.sqlite.databases import open_database
from resolution_ledger.infra.store import EventStore
from resolution_ledger.projections.read_models import (
    CLOSED_INSTANCES,
    LOSING_ATTEMPTS,
    READ_MODELS,
    WINNERS,
    Row,
    order,
)
from samples import instance

# Few instances, so that attempts and withdrawals meet.
histories = st.lists(
    st.tuples(st.integers(0, 3).map(instance), strategies.causes, strategies.ticks), max_size=30
)

History = list[tuple[InstanceId, Attempt | Withdrawal, int]]
Tables = dict[str, list[Row]]


@contextmanager
def new_ledger() -> Iterator[tuple[Database, LedgerAdmin]]:
    """An empty ledger in memory, and its operator's door."""
    database = open_database(":memory:", durability="normal", lock_timeout=60.0)
    try:
        yield database, LedgerAdmin(database)
    finally:
        database.close()


def submit(store: EventStore, asked: InstanceId, cause: Attempt | Withdrawal) -> None:
    """Whatever it is."""
    if isinstance(cause, Attempt):
        store.resolve(asked, cause)
    else:
        store.withdraw(asked, cause)


def live(database: Database) -> Tables:
    """What is in the tables."""
    return {
        model.table: database.read(lambda session: session.rows(model, None, 1000))  # noqa: B023 (called in this round)
        for model in READ_MODELS
    }


def folded(attempts: list[RecordedAttempt]) -> Tables:
    """What a log demands, row by row."""
    tables = {}
    for model in READ_MODELS:
        rows = [row for attempt in attempts if (row := model.demanded(attempt)) is not None]
        tables[model.table] = sorted(rows, key=lambda row: order(row[0]))  # type: ignore[arg-type]
    return tables


def said(attempts: list[RecordedAttempt]) -> Tables:
    """The same once more, as plainly as it can be said.

    Who came first has won, or closed; other answers have not, and other withdrawals are nowhere.
    """
    winners: dict[str, Row] = {}
    closed: dict[str, Row] = {}
    losing: list[Row] = []
    for a in attempts:
        text, first = a.instance.text, a.instance.text not in {**winners, **closed}
        if a.response is None and first:
            closed[text] = (text, a.workspace, a.reason, a.submitted_by, a.tick)
        elif a.response is not None:
            answer = (a.workspace, a.response.text, a.idempotency_key.text)
            if first:
                winners[text] = (text, *answer, a.tick)
            else:
                place = (a.sequence, text, a.position, a.outcome)
                losing.append((*place, *answer, a.submitted_by, a.tick))
    return {
        WINNERS.table: [winners[text] for text in sorted(winners)],
        LOSING_ATTEMPTS.table: losing,
        CLOSED_INSTANCES.table: [closed[text] for text in sorted(closed)],
    }


@given(histories)
def test_at_every_step_the_tables_are_the_fold_of_the_log(
    history: History,
) -> None:
    """Nobody who reads them sees more or less than the log, and verify finds nothing."""
    ticks = [0]
    with new_ledger() as (database, admin):
        store = EventStore(database, lambda: ticks[0])
        tables = [live(database)]
        for asked, cause, ticks[0] in history:
            before = len(list(admin.attempts()))
            submit(store, asked, cause)
            attempts = list(admin.attempts())
            there = live(database)
            assert there == folded(attempts) == said(attempts)
            if len(attempts) == before:
                assert there == tables[-1]
            else:
                tables.append(there)
        assert admin.verify(admin.checkpoint()).clean
        log = list(admin.attempts())
        assert tables == [folded(log[:n]) for n in range(len(log) + 1)]


@given(histories, st.integers(1, 4))
def test_at_every_step_verify_finds_nothing(history: History, size: int) -> None:
    """However much it reads at once."""
    ticks = [0]
    with new_ledger() as (database, admin), pytest.MonkeyPatch.context() as patch:
        read_by(patch, size)
        store = EventStore(database, lambda: ticks[0])
        assert admin.verify().clean
        for asked, cause, ticks[0] in history[:12]:
            submit(store, asked, cause)
            assert admin.verify().findings == ()


@given(histories, st.data())
def test_tables_that_lost_any_rows_are_made_the_fold_again(
    history: History, data: st.DataObject
) -> None:
    """With a finding for each row that was missing."""
    ticks = [0]
    with new_ledger() as (database, admin):
        store = EventStore(database, lambda: ticks[0])
        for asked, cause, ticks[0] in history:
            submit(store, asked, cause)
        before = live(database)
        lost = [
            (model, row[0])
            for model in READ_MODELS
            for row in before[model.table]
            if data.draw(st.booleans())
        ]
        for model, key in lost:
            database.write(lambda session: session.remove(model, key))  # type: ignore[arg-type]  # noqa: B023 (as above)
        assert admin.verify().count == admin.rebuild().count == len(lost)
        assert live(database) == before
        assert admin.rebuild().clean
