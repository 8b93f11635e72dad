"""Whichever database call of an operation fails, the caller is told, and nothing is left behind."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from integration.failing import KINDS, When
from integration.sweeping import Operation, open_ledger, sweep
from resolution_ledger import (
    Closed,
    IdempotencyConflict,
    Lost,
    OutsideWorkspace,
    Replayed,
    ResolutionLedger,
    Withdrawn,
    Won,
)
from samples import OTHER_WORKSPACE, instance, key, record, response

WINNER, LOST = response(1), Lost(response(1))
CONFLICT = (IdempotencyConflict, key(2), response(2), response(3))
OUTSIDE = (OutsideWorkspace, instance(1), OTHER_WORKSPACE)
OWN, NOT_OWN = Replayed(WINNER, own=True), Replayed(WINNER, own=False)

WIN = Operation(lambda ledger: ledger.resolve(record(9, 1, 1)), Won(), OWN)

WRITES = {
    "win": WIN,
    "lose": Operation(lambda ledger: ledger.resolve(record(1, 3, 3)), LOST, LOST),
    "replay": Operation(lambda ledger: ledger.resolve(record(1, 1, 5)), NOT_OWN, NOT_OWN),
    "conflict": Operation(lambda ledger: ledger.resolve(record(1, 3, 2)), CONFLICT, CONFLICT),
    "be fenced": Operation(
        lambda ledger: ledger.resolve(record(1, 3, 6)),
        OUTSIDE,
        OUTSIDE,
        open=partial(open_ledger, workspace=OTHER_WORKSPACE),
    ),
    "withdraw": Operation(
        lambda ledger: ledger.withdraw(instance(9), "expired"), Withdrawn(), Closed("expired")
    ),
    "withdraw after an answer": Operation(
        lambda ledger: ledger.withdraw(instance(1), "expired"), LOST, LOST
    ),
    "answer after a withdrawal": Operation(
        lambda ledger: ledger.resolve(record(4, 1, 1)), Closed("expired"), Closed("expired")
    ),
}


def read(call: str, *values: object, answer: object) -> Operation:
    """A call that changes nothing."""
    return Operation(lambda ledger: getattr(ledger, call)(*values), answer, answer, adds=0)


def sequences(ledger: ResolutionLedger) -> list[int]:
    return [attempt.sequence for attempt in (*ledger.history(instance(1)), *ledger.losers())]


READS = {
    "winner": read("winner", instance(1), answer=WINNER),
    "winner of nothing": read("winner", instance(9), answer=None),
    "history and losers": Operation(sequences, [1, 2, 2], [1, 2, 2], adds=0),
    "wait": read("wait", instance(4), 0, answer=Closed("expired")),
    "wait in vain": read("wait", instance(9), 0, answer=None),
    "create": read("create", answer=None),
    "retransmit": read("resolve", record(1, 1, 1), answer=OWN),
}


def cold(operation: Operation) -> Operation:
    """As the first thing that is done."""
    return msgspec.structs.replace(operation, warm_up=lambda _: None)


def anew(operation: Operation) -> Operation:
    """As the first thing that is done, where there is no ledger yet."""
    return msgspec.structs.replace(cold(operation), make=lambda _: None)


OPERATIONS = {
    **WRITES,
    **READS,
    "open and win": cold(WIN),
    "open and ask": cold(READS["winner"]),
    "open, ask and find nothing": cold(READS["winner of nothing"]),
    "make a ledger and win": anew(WIN),
    "make a ledger": anew(READS["create"]),
}


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_call_of_which_a_statement_fails_is_told_so_and_can_be_made_again(
    operation: Operation, when: When, tmp_path: Path
) -> None:
    failed = sweep(operation, KINDS, when, tmp_path)
    assert any("SELECT" in statement for statement in failed)
    assert operation.adds == 0 or "COMMIT" in failed
