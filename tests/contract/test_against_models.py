"""Many random calls, against an independent model and against the one-row store."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import get_args

import pytest

from answers import answer, everything
from contract.backends import OpenLedger
from contract.draws import some_attempts, some_submissions
from contract.model import Entry, Model
from contract.one_row import OneRowStore
from resolution_ledger import RecordedAttempt, ResolutionRecord
from resolution_ledger.domain.records import Outcome
from samples import OTHER_WORKSPACE, WORKSPACE, instance
from submissions import Closing, Submission

INSTANCES = 120
ALL = range(INSTANCES)


@pytest.mark.parametrize("seed", [1, 2])
def test_4000_random_attempts_agree_with_the_model_and_the_one_row_store(
    open_ledger: OpenLedger, seed: int
) -> None:
    doors = {name: open_ledger(workspace=name) for name in (WORKSPACE, OTHER_WORKSPACE)}
    model, compared, seen = Model(), 0, Counter[object]()
    with closing(sqlite3.connect(":memory:")) as connection:
        one_row = OneRowStore(connection)
        for workspace, attempt in some_attempts(seed, 4000, INSTANCES):
            owner = model.first_use(attempt)
            told = answer(doors[workspace], attempt)
            assert told == model.submit(workspace, attempt)
            plain = one_row.resolve(workspace, attempt)
            if owner is None or owner.outcome == "won":  # else the ledger knows more
                assert told == plain
                compared += 1
            seen[told[0]] += 1
    assert compared > 1000
    assert min(seen[kind] for kind in ("won", "lost", "replayed", "conflict", "outside")) > 50
    assert on_record(model) == [as_entry(a) for a in everything(doors.values(), ALL)]


@pytest.mark.parametrize("seed", [1, 2])
def test_4000_random_attempts_and_withdrawals_agree_with_the_model(
    open_ledger: OpenLedger, seed: int
) -> None:
    doors = {name: open_ledger(workspace=name) for name in (WORKSPACE, OTHER_WORKSPACE)}
    model, seen = Model(), Counter[object]()
    for workspace, sent in some_submissions(seed, 4000, INSTANCES):
        told = answer(doors[workspace], sent)
        assert told == model.submit(workspace, sent)
        seen[told[0]] += 1
    for n in ALL:
        for workspace, door in doors.items():
            assert door.winner(instance(n)) == model.winner(workspace, instance(n))

    assert min(seen.values()) > 10
    assert len(seen) == 7
    assert on_record(model) == [as_entry(a) for a in everything(doors.values(), ALL)]
    assert {entry.outcome for _, entry in on_record(model)} == set(get_args(Outcome)) - {"adopted"}


def on_record(model: Model) -> list[tuple[int, Entry]]:
    """All entries with their positions, in the order of their sequences."""
    entries = [
        (position, entry)
        for stream in model.streams.values()
        for position, entry in enumerate(stream, start=1)
    ]
    return sorted(entries, key=lambda placed: placed[1].sequence)


def as_entry(a: RecordedAttempt) -> tuple[int, Entry]:
    """What a ledger has on record, as the model has it."""
    sent: Submission
    if a.reason is None:
        sent = ResolutionRecord(a.instance, a.response, a.idempotency_key, a.submitted_by)
    else:
        assert (a.response, a.idempotency_key) == (None, None)
        sent = Closing(a.instance, a.reason, a.submitted_by)
    return a.position, Entry(a.sequence, a.outcome, a.workspace, sent)
