"""Another thread raises in whoever commits for others: these are told the truth all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.sweeping import make_ledger
from integration.test_failing_batches import RECORDS, THREADS, Batch
from resolution_ledger import LedgerAdmin, Replayed, StoreUnavailable, Won
from resolution_ledger.infra.sqlite.calls import Call
from resolution_ledger.infra.sqlite.connection import OpenConnection
from samples import response


class Struck(MemoryError):
    """What arrives from outside."""


class NeverTold:
    """A fault that strikes nowhere: here it is a step that is interrupted."""

    def meet(self, _: str, __: object, do: object) -> object:
        return do()  # type: ignore[operator]


def interrupt(monkeypatch: pytest.MonkeyPatch, owner: type, step: str, n: int, when: str) -> None:
    """Raise right before or after the n-th of these steps."""
    left, do = [n], getattr(owner, step)

    def done(of: object, *with_: object) -> None:
        left[0] -= 1
        if left[0] == 0 and when == "before":
            raise Struck
        do(of, *with_)
        if left[0] == 0:
            raise Struck

    monkeypatch.setattr(owner, step, done)


def run(path: Path) -> tuple[list[object], list[object]]:
    """What the leader and the others are told, and then once more."""
    batch = Batch(path)
    with batch.ledger as ledger:
        batch.run(NeverTold())  # type: ignore[arg-type]
        outcomes = [batch.outcomes[n] for n in range(THREADS)]
        again = [ledger.resolve(attempt) for attempt in RECORDS]
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
    (struck,) = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Struck)]
    outcomes.pop(struck)
    return outcomes, again


REPLAYED = [Replayed(response(1), own=True)] * THREADS


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("n", range(1, THREADS))
def test_whoever_has_won_is_told_so_also_where_the_leader_could_not(
    path: Path, monkeypatch: pytest.MonkeyPatch, n: int, when: str
) -> None:
    """To do again what is committed would tell them of a replay, and nobody of a win."""
    make_ledger(path)
    interrupt(monkeypatch, Call, "succeed", n, when)
    assert run(path) == ([Won()] * (THREADS - 1), REPLAYED)


def test_where_nobody_knows_of_the_commit_nobody_claims_to(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_ledger(path)
    interrupt(monkeypatch, OpenConnection, "commit", 2, "after")
    outcomes, again = run(path)
    for outcome in outcomes:
        assert isinstance(outcome, StoreUnavailable)
        assert outcome.outcome_unknown
    assert again == REPLAYED


def test_what_was_not_committed_is_done_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_ledger(path)
    interrupt(monkeypatch, OpenConnection, "commit", 2, "before")
    outcomes, again = run(path)
    assert outcomes == [Won()] * (THREADS - 1)
    assert sorted(map(repr, again)) == sorted(map(repr, [Won(), *REPLAYED[1:]]))
