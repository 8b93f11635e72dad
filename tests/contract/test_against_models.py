"""Many random attempts, against an independent model and against the one-row store."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from contract.answers import answer, everything
from contract.backends import OpenLedger
from contract.draws import some_attempts
from contract.model import Model
from contract.one_row import OneRowStore
from resolution_ledger import ResolutionRecord
from samples import OTHER_WORKSPACE, WORKSPACE

INSTANCES = 120


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
            assert told == model.resolve(workspace, attempt)
            plain = one_row.resolve(workspace, attempt)
            if owner is None or owner.outcome == "won":  # else the ledger knows more
                assert told == plain
                compared += 1
            seen[told[0]] += 1
    assert compared > 1000
    assert min(seen[kind] for kind in ("won", "lost", "replayed", "conflict", "outside")) > 50

    on_record = [
        (entry.sequence, position, entry.outcome, entry.workspace, entry.record)
        for stream in model.streams.values()
        for position, entry in enumerate(stream, start=1)
    ]
    assert sorted(on_record) == [
        (
            a.sequence,
            a.position,
            a.outcome,
            a.workspace,
            ResolutionRecord(a.instance, a.response, a.idempotency_key, a.submitted_by),
        )
        for a in everything(doors.values(), range(INSTANCES))
    ]
