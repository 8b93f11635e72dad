"""A withdrawal goes on record as a whole or not at all, like an attempt."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inside import OpenLedger, all_rows
from integration.closers import submit_and_stop_inside
from processes import PATIENCE, spawning
from resolution_ledger import (
    Closed,
    CorruptLedger,
    InvalidTick,
    LedgerAdmin,
    Lost,
    ResolutionLedger,
    StoreBusy,
    Withdrawn,
)
from samples import instance, record, response
from submissions import Closing, Submission, submit

Foreign = Callable[[], sqlite3.Connection]


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> ResolutionLedger:
    """Response 1 won instance 1, and instance 2 expired. It waits a tenth of a second for locks."""
    ledger = open_ledger(lock_timeout=0.1)
    ledger.resolve(record(1, 1, 1))
    ledger.withdraw(instance(2), "expired")
    return ledger


WRITES: dict[str, tuple[str, Submission, object]] = {
    "a closing": ("closed_instances", Closing(instance(3), "withdrawn", "timer"), Withdrawn()),
    "a withdrawal that is lost": (
        "resolution_events",
        Closing(instance(1), "expired"),
        Lost(response(1)),
    ),
    "a withdrawal that is late": (
        "resolution_events",
        Closing(instance(2), "withdrawn"),
        Closed("expired"),
    ),
    "an attempt that is late": ("losing_attempts", record(2, 1, 1), Closed("expired")),
}

each_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


@each_write
@pytest.mark.parametrize("how", ["ABORT, 'no'", "ROLLBACK, 'no'", "IGNORE"])
@pytest.mark.parametrize("what", ["the event", "the row"])
def test_what_the_database_refuses_or_ignores_takes_everything_with_it(
    ledger: ResolutionLedger,
    foreign: Foreign,
    write: tuple[str, Submission, object],
    how: str,
    what: str,
) -> None:
    table, submission, answer = write
    before = all_rows(foreign())
    refused = "resolution_events" if what == "the event" else table
    moment = "BEFORE" if how == "IGNORE" else "AFTER"
    foreign().execute(
        f"CREATE TRIGGER theirs {moment} INSERT ON {refused} BEGIN SELECT RAISE({how}); END"
    )
    with pytest.raises(CorruptLedger, match="did not take" if how == "IGNORE" else "no") as error:
        submit(ledger, submission)
    assert not error.value.outcome_unknown
    assert all_rows(foreign()) == before
    foreign().execute("DROP TRIGGER theirs")
    assert submit(ledger, submission) == answer
    assert ledger.history(submission.instance)[-1].sequence == 3


@each_write
def test_a_clock_that_fails_leaves_neither_event_nor_row(
    open_ledger: OpenLedger, ledger: ResolutionLedger, write: tuple[str, Submission, object]
) -> None:
    _, submission, answer = write
    ticks = iter(["noon", 2**63, 5])
    other = open_ledger(clock=lambda: next(ticks))
    before = ledger.history(submission.instance)
    for _ in range(2):
        with pytest.raises(InvalidTick):
            submit(other, submission)
        assert ledger.history(submission.instance) == before
    assert submit(other, submission) == answer
    assert ledger.history(submission.instance)[-1].tick == 5


@pytest.fixture(params=["IMMEDIATE", "EXCLUSIVE"])
def locked(
    request: pytest.FixtureRequest, ledger: ResolutionLedger, foreign: Foreign
) -> Iterator[sqlite3.Connection]:
    """Somebody else's connection, in the middle of a write transaction."""
    assert ledger.winner(instance(1)) == response(1)
    connection = foreign()
    connection.execute(f"BEGIN {request.param}")
    yield connection
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@each_write
def test_while_others_hold_the_lock_it_gives_up_after_its_timeout(
    ledger: ResolutionLedger,
    locked: sqlite3.Connection,
    write: tuple[str, Submission, object],
) -> None:
    _, submission, answer = write
    before = ledger.history(submission.instance)
    with pytest.raises(StoreBusy) as error:
        submit(ledger, submission)
    assert not error.value.outcome_unknown
    assert ledger.history(submission.instance) == before
    locked.execute("ROLLBACK")
    assert submit(ledger, submission) == answer


def test_the_same_withdrawal_again_is_answered_without_the_lock(
    ledger: ResolutionLedger, foreign: Foreign
) -> None:
    """Whatever it came to; a withdrawal for another reason is another one."""
    for _, submission, _ in WRITES.values():
        submit(ledger, submission)
    connection = foreign()
    connection.execute("BEGIN EXCLUSIVE")
    again = {name: submit(ledger, submission) for name, (_, submission, _) in WRITES.items()}
    assert again == {name: answer for name, (*_, answer) in WRITES.items()} | {
        "a closing": Closed("withdrawn")
    }
    with pytest.raises(StoreBusy):
        ledger.withdraw(instance(3), "expired")


@each_write
def test_a_process_that_dies_inside_the_transaction_leaves_nothing(
    path: Path, ledger: ResolutionLedger, write: tuple[str, Submission, object]
) -> None:
    _, submission, answer = write
    before = ledger.history(submission.instance)
    inside = spawning.Event()
    process = spawning.Process(target=submit_and_stop_inside, args=(str(path), submission, inside))
    process.start()
    assert inside.wait(PATIENCE)
    process.kill()
    process.join(PATIENCE)
    assert ledger.history(submission.instance) == before
    assert submit(ledger, submission) == answer
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().findings == ()
