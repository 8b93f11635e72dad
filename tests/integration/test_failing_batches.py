"""Whichever database call of a batch fails, each of those who wait for it is told the truth."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import get_args

import pytest

from inside import database_of
from integration.failing import (
    CONTENTION,
    MAIN_KINDS,
    Fault,
    When,
    can_fail,
    failing,
)
from integration.logs import PAGE, short_log
from integration.sweeping import (
    Operation,
    make_ledger,
    see_that_nobody_holds_the_lock,
    sweep,
    told,
)
from integration.test_failing_statements import WIN
from processes import PATIENCE
from resolution_ledger import LedgerAdmin, Replayed, ResolutionLedger, StoreError, Won
from resolution_ledger.infra.sqlite import wal
from samples import WORKSPACE, record, response

THREADS = 4
RECORDS = [record(20 + n, 1, n) for n in range(THREADS)]


class Batch:
    """Threads of which the first one leads, and commits for the others, who wait by then."""

    def __init__(self, path: Path) -> None:
        self._first_inside, self._go_on = Event(), Event()
        self.ledger = ResolutionLedger.open(
            path, workspace=WORKSPACE, durability="normal", lock_timeout=PATIENCE, clock=self._clock
        )
        self.outcomes: dict[int, object] = {}

    def _clock(self) -> int:
        """The first call stops here, so that all others wait for the next leader."""
        self._first_inside.set()
        assert self._go_on.wait(PATIENCE)
        return 0

    def run(self, fault: Fault) -> None:
        """Have the last of them lead the rest: the fault may strike there."""
        threads = [Thread(target=self._resolve, args=(n,)) for n in range(-1, THREADS)]
        threads[0].start()
        assert self._first_inside.wait(PATIENCE)
        for thread in threads[1:]:
            thread.start()
        waiting = database_of(self.ledger).writer._waiting  # noqa: SLF001 (there is no other way)
        while len(waiting.calls) < THREADS:
            pass
        with failing(fault):
            self._go_on.set()
            for thread in threads:
                thread.join(PATIENCE)
                assert not thread.is_alive()

    def _resolve(self, n: int) -> None:
        attempt = RECORDS[n] if n >= 0 else record(9, 9, 9)
        self.outcomes[n] = told(lambda: self.ledger.resolve(attempt))


@pytest.mark.parametrize("when", get_args(When))
def test_a_batch_of_which_a_statement_fails_tells_each_what_has_become_of_it(
    when: When, tmp_path: Path
) -> None:
    kinds = [kind for kind in MAIN_KINDS if when != "after" or kind not in CONTENTION]
    fired = []
    with can_fail():
        for n in count(1):
            path = tmp_path / f"{n}.db"
            make_ledger(path)
            fault = Fault(n, kinds[n % len(kinds)], when)
            batch = Batch(path)
            with batch.ledger as ledger:
                batch.run(fault)
                see_that_nobody_holds_the_lock(path)
                _check(ledger, path, batch.outcomes)
            if fault.fired is None:
                break
            fired.append(fault.fired)
    assert "COMMIT" in fired


def _check(ledger: ResolutionLedger, path: Path, outcomes: dict[int, object]) -> None:
    assert len(outcomes) == THREADS + 1
    for n, attempt in enumerate(RECORDS):
        outcome, recorded = outcomes[n], ledger.winner(attempt.instance) is not None
        if isinstance(outcome, StoreError):
            assert outcome.outcome_unknown or not recorded
        else:
            assert outcome == Won()
            assert recorded
        again = ledger.resolve(attempt)
        assert again == (Replayed(response(1), own=True) if recorded else Won())
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().findings == ()


# The log is copied back


def fill_the_log(ledger: ResolutionLedger) -> None:
    for n in range(20):
        ledger.resolve(record(100 + n, 1, 1))


@pytest.mark.parametrize("when", get_args(When))
def test_a_win_for_which_the_log_is_copied_back_is_told_so_and_can_be_made_again(
    when: When, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wal, "_SELDOM", 2)
    operation = Operation(WIN.call, WIN.answer, WIN.again, warm_up=fill_the_log)
    with short_log(2 * PAGE):
        failed = sweep(operation, MAIN_KINDS, when, tmp_path)
    assert wal.COPY_BACK in failed
