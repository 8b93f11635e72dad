"""An attempt goes on record as a whole or not at all, and a failure leaves nothing behind."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from inside import OpenLedger, Rows, all_rows, own_connection
from processes import PATIENCE, spawning, stop_inside_the_transaction
from resolution_ledger import (
    CorruptLedger,
    Replayed,
    ResolutionLedger,
    ResolutionRecord,
    StoreError,
    StoreUnavailable,
    Won,
)
from resolution_ledger.infra.sqlite import statements
from resolution_ledger.infra.sqlite.connection import OpenConnection
from samples import instance, record, response

STATEMENTS = ["APPEND_EVENT", "ADD_WINNER", "ADD_LOSING_ATTEMPT"]

Failure = tuple[Callable[[], BaseException], type[BaseException]]
"""What a statement raises, and what the caller sees."""

Failing = Callable[[str, str, Callable[[], BaseException]], AbstractContextManager[None]]

FAILURES: dict[str, Failure] = {
    "a database error": (lambda: sqlite3.OperationalError("broken"), StoreError),
    "Ctrl-C": (KeyboardInterrupt, KeyboardInterrupt),
    "no memory": (MemoryError, MemoryError),
}


@pytest.fixture
def resolved(ledger: ResolutionLedger) -> ResolutionLedger:
    """A ledger in which instance 0 is resolved, and instance 1 is not."""
    ledger.resolve(record(0, 1, 1))
    return ledger


def use_cursors(monkeypatch: pytest.MonkeyPatch, kind: type[sqlite3.Cursor]) -> None:
    """Have the ledgers that are opened from now on work with cursors of this kind."""

    class Connection(sqlite3.Connection):
        def cursor(self, *_: object) -> sqlite3.Cursor:  # type: ignore[override]
            return super().cursor(kind)

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **options: connect(*args, **options, factory=Connection)
    )


class _FailingStatement(sqlite3.Cursor):
    """A cursor for which one statement fails, before or after it was executed."""

    failing: tuple[str, str, Callable[[], BaseException]] | None = None

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        statement, moment, failure = self.failing or ("", "", Exception)
        if sql == statement and moment == "before":
            raise failure()
        cursor = super().execute(sql, *parameters)
        if sql == statement and moment == "after":
            raise failure()
        return cursor


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Makes a statement of the ledgers that are opened from now on fail."""
    use_cursors(monkeypatch, _FailingStatement)

    @contextmanager
    def failing(
        statement: str, moment: str, failure: Callable[[], BaseException]
    ) -> Iterator[None]:
        _FailingStatement.failing = getattr(statements, statement), moment, failure
        yield
        _FailingStatement.failing = None

    return failing


@pytest.fixture
def rows(foreign: Callable[[], sqlite3.Connection]) -> Callable[[], Rows]:
    """Everything in the ledger's tables, as others see it."""
    return lambda: all_rows(foreign())


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_statement_that_fails_leaves_neither_event_nor_row(
    failing: Failing, resolved: ResolutionLedger, statement: str, moment: str, failure: Failure
) -> None:
    attempt = record(0, 2, 2) if statement == "ADD_LOSING_ATTEMPT" else record(1, 2, 2)
    error, raised = failure
    with own_connection(resolved) as connection:
        before = all_rows(connection)
    with failing(statement, moment, error), pytest.raises(raised):
        resolved.resolve(attempt)
    with own_connection(resolved) as connection:
        assert all_rows(connection) == before
    resolved.resolve(attempt)
    assert resolved.history(attempt.instance)[-1].sequence == 2
    with own_connection(resolved) as connection:
        after = all_rows(connection)
    assert len(after["losing_attempts"] + after["interaction_resolutions"]) == 2


@pytest.mark.parametrize("how", ["ABORT", "ROLLBACK"])
@pytest.mark.parametrize(
    "refused",
    [
        ("resolution_events", record(1, 2, 2)),
        ("resolution_events", record(0, 2, 2)),
        ("interaction_resolutions", record(1, 2, 2)),
        ("losing_attempts", record(0, 2, 2)),
    ],
)
def test_a_row_that_the_database_refuses_takes_the_whole_attempt_with_it(
    resolved: ResolutionLedger,
    foreign: Callable[[], sqlite3.Connection],
    rows: Callable[[], Rows],
    refused: tuple[str, ResolutionRecord],
    how: str,
) -> None:
    before, (table, attempt) = rows(), refused
    foreign().execute(
        f"CREATE TRIGGER theirs AFTER INSERT ON {table} BEGIN SELECT RAISE({how}, 'no'); END"
    )
    with pytest.raises(CorruptLedger, match="no") as error:
        resolved.resolve(attempt)
    assert not error.value.outcome_unknown
    assert rows() == before
    foreign().execute("DROP TRIGGER theirs")
    resolved.resolve(attempt)
    assert resolved.history(attempt.instance)[-1].sequence == 2


@pytest.mark.parametrize("table", ["resolution_events", "interaction_resolutions"])
@pytest.mark.parametrize("attempt", [record(1, 2, 2), record(0, 2, 2)], ids=["win", "loss"])
def test_a_row_that_is_silently_ignored_is_not_acknowledged(
    resolved: ResolutionLedger,
    foreign: Callable[[], sqlite3.Connection],
    rows: Callable[[], Rows],
    table: str,
    attempt: ResolutionRecord,
) -> None:
    if attempt.instance == instance(0) and table == "interaction_resolutions":
        table = "losing_attempts"
    before = rows()
    foreign().execute(
        f"CREATE TRIGGER theirs BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END"
    )
    with pytest.raises(CorruptLedger, match="did not take"):
        resolved.resolve(attempt)
    assert rows() == before


def test_a_full_database_takes_whole_attempts_until_there_is_room_again(
    resolved: ResolutionLedger, rows: Callable[[], Rows]
) -> None:
    with own_connection(resolved) as connection:
        ((pages,),) = connection.execute("PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count = {pages + 3}")
    taken = 0
    with pytest.raises(StoreUnavailable, match="full") as error:  # noqa: PT012 (one of many)
        for taken in range(1000):
            resolved.resolve(record(0, 2, 2 + taken, "x" * 500))
    assert not error.value.outcome_unknown
    assert len(rows()["resolution_events"]) == 1 + taken
    assert len(rows()["losing_attempts"]) == taken
    assert resolved.winner(instance(0)) == response(1)
    with own_connection(resolved) as connection:
        connection.execute(f"PRAGMA max_page_count = {pages + 1000}")
    assert resolved.resolve(record(1, 2, 2)) == Won()
    assert len(rows()["resolution_events"]) == 2 + taken


class _DoubtfulCommit(sqlite3.Cursor):
    """A cursor whose next commit reports an I/O error, whatever came of it."""

    fate: str | None = None

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql != "COMMIT" or self.fate is None:
            return super().execute(sql, *parameters)
        super().execute("COMMIT" if self.fate == "happened" else "ROLLBACK")
        type(self).fate = None
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        raise error


@pytest.fixture
def doubtful(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_DoubtfulCommit]]:
    """Makes ledgers connect so that commits can be made doubtful."""
    use_cursors(monkeypatch, _DoubtfulCommit)
    yield _DoubtfulCommit
    _DoubtfulCommit.fate = None


@pytest.mark.parametrize(
    ("fate", "again"),
    [("happened", Replayed(response(2), own=True)), ("did not happen", Won())],
)
def test_after_a_commit_of_unknown_fate_the_same_call_gets_the_right_answer(
    doubtful: type[_DoubtfulCommit],
    open_ledger: OpenLedger,
    fate: str,
    again: Won | Replayed,
) -> None:
    ledger = open_ledger()
    ledger.resolve(record(0, 1, 1))
    doubtful.fate = fate
    with pytest.raises(StoreUnavailable) as error:
        ledger.resolve(record(1, 2, 2))
    assert error.value.outcome_unknown
    assert ledger.resolve(record(1, 2, 2)) == again
    assert [attempt.outcome for attempt in ledger.history(instance(1))] == ["won"]


def test_an_interruption_right_after_the_commit_loses_only_the_reply(
    resolved: ResolutionLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = OpenConnection.commit

    def interrupted(link: OpenConnection) -> None:
        commit(link)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):  # noqa: PT012 (no patch raises)
        patch.setattr(OpenConnection, "commit", interrupted)
        resolved.resolve(record(1, 2, 2))
    assert resolved.resolve(record(1, 2, 2)) == Replayed(response(2), own=True)


@pytest.mark.parametrize("attempt", [record(1, 2, 2), record(0, 2, 2)], ids=["winning", "losing"])
def test_a_process_that_is_killed_inside_a_transaction_leaves_no_trace(
    path: Path, resolved: ResolutionLedger, rows: Callable[[], Rows], attempt: ResolutionRecord
) -> None:
    before = rows()
    inside = spawning.Event()
    process = spawning.Process(
        target=stop_inside_the_transaction, args=(str(path), attempt, inside)
    )
    process.start()
    assert inside.wait(PATIENCE)
    assert rows() == before
    process.kill()
    process.join(PATIENCE)
    process.close()
    assert rows() == before
    resolved.resolve(attempt)
    assert resolved.history(attempt.instance)[-1].sequence == 2
