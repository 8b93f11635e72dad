"""Watching what a workspace has on record, and whatever it adds."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from answers import answer, everything, outcomes
from contract.backends import OpenLedger
from listeners import listeners, see_that_nobody_listens, until_listening
from processes import PATIENCE
from resolution_ledger import InvalidOption, LedgerClosed, RecordedAttempt, ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


@pytest.fixture
def history(ledger: ResolutionLedger, other: ResolutionLedger) -> list[RecordedAttempt]:
    """Twelve attempts and withdrawals of two workspaces, in the order of commits."""
    for n in (1, 2):
        answer(ledger, record(n, 1, 1))
        answer(other, record(n, 2, 2))
        answer(ledger, record(n, 3, 3))
        answer(other, record(n + 2, 1, 1))
        ledger.withdraw(instance(n), "expired")
        ledger.withdraw(instance(n + 4), "withdrawn", "cron")
    attempts = everything([ledger, other])
    assert [attempt.sequence for attempt in attempts] == [*range(1, 13)]
    return attempts


def test_a_watch_tells_what_is_on_record_in_the_order_of_commits(
    ledger: ResolutionLedger, other: ResolutionLedger, history: list[RecordedAttempt]
) -> None:
    """Of its own workspace, and of no other one."""
    for door, workspace in ((ledger, WORKSPACE), (other, OTHER_WORKSPACE)):
        own = [attempt for attempt in history if attempt.workspace == workspace]
        assert list(islice(door.watch(), len(own))) == own


def test_a_watch_goes_on_after_any_sequence(
    ledger: ResolutionLedger, history: list[RecordedAttempt]
) -> None:
    own = [attempt for attempt in history if attempt.workspace == WORKSPACE]
    for after in range(own[-1].sequence):
        rest = [attempt for attempt in own if attempt.sequence > after]
        assert list(islice(ledger.watch(after), len(rest))) == rest


class Watcher:
    """Somebody who watches, in a thread of its own, until the ledger is closed."""

    def __init__(self, ledger: ResolutionLedger, after: int = 0) -> None:
        self.told: Queue[RecordedAttempt] = Queue()
        self.error: Exception | None = None
        self._found = ledger.watch(after)
        self._thread = Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        try:
            for attempt in self._found:
                self.told.put(attempt)
        except LedgerClosed as error:
            self.error = error

    def next(self) -> RecordedAttempt:
        """What it is told next."""
        return self.told.get(timeout=PATIENCE)

    def see_the_end(self) -> None:
        """It has been told nothing else, and the closing has ended it."""
        self._thread.join(PATIENCE)
        assert isinstance(self.error, LedgerClosed)
        assert self.told.empty()


@pytest.mark.parametrize("shared", [True, False], ids=["same object", "another object"])
def test_a_watch_tells_what_is_added_as_it_is_added(
    ledger: ResolutionLedger, open_ledger: OpenLedger, other: ResolutionLedger, *, shared: bool
) -> None:
    ledger.create()
    watcher, writer = Watcher(ledger), ledger if shared else open_ledger()
    for n in range(20):
        answer(other, record(n, 1, 1))
        writer.resolve(record(100 + n, 1, 1))
        (added,) = writer.history(instance(100 + n))
        assert watcher.next() == added
    ledger.close()
    watcher.see_the_end()


def test_many_watchers_are_told_the_same(open_ledger: OpenLedger) -> None:
    ledger = open_ledger()
    ledger.create()
    watchers = [Watcher(ledger) for _ in range(10)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: ledger.resolve(record(n, 1, 1)), range(100)))
    for watcher in watchers:
        assert [watcher.next().sequence for _ in range(100)] == [*range(1, 101)]
    ledger.close()
    for watcher in watchers:
        watcher.see_the_end()


def test_closing_ends_a_watch_that_waits(ledger: ResolutionLedger) -> None:
    ledger.create()
    watcher = Watcher(ledger)
    until_listening()
    ledger.close()
    watcher.see_the_end()


def test_closing_ends_a_watch_that_is_half_way(
    ledger: ResolutionLedger, history: list[RecordedAttempt]
) -> None:
    """What it has read already it may still tell."""
    watch = ledger.watch()
    assert next(watch) == history[0]
    ledger.close()
    with pytest.raises(LedgerClosed):
        list(watch)


def test_a_watch_that_is_left_half_way_leaves_nobody(
    ledger: ResolutionLedger, history: list[RecordedAttempt]
) -> None:
    """Whether or not anybody still holds it."""
    kept = [ledger.watch() for _ in range(3)]
    for watch in (*kept, ledger.watch()):
        assert next(watch).sequence == 1
        assert listeners() == 0
    for watch in kept:
        assert next(watch).sequence == 3
    assert history


def test_two_watches_of_one_ledger_have_nothing_to_do_with_each_other(
    ledger: ResolutionLedger, history: list[RecordedAttempt]
) -> None:
    own = [attempt for attempt in history if attempt.workspace == WORKSPACE]
    first, second = ledger.watch(), ledger.watch()
    assert [(next(first), next(second)) for _ in own] == [(one, one) for one in own]


@pytest.mark.parametrize("after", [-1, 2**63, True, None, "1", 1.0])
def test_a_watch_begins_past_a_sequence_and_nothing_else(
    ledger: ResolutionLedger, after: Any
) -> None:
    """It says so at once, not when the first attempt is asked for."""
    with pytest.raises(InvalidOption, match="after"):
        ledger.watch(after)


def test_a_watch_past_the_end_waits_for_that_sequence(ledger: ResolutionLedger) -> None:
    watcher_starts_after = 3
    ledger.create()
    watcher = Watcher(ledger, watcher_starts_after)
    for n in range(5):
        ledger.resolve(record(n, 1, 1))
    assert [watcher.next().sequence for _ in range(2)] == [4, 5]
    ledger.close()
    watcher.see_the_end()


def test_a_watch_tells_withdrawals_too(ledger: ResolutionLedger) -> None:
    ledger.withdraw(instance(1), "expired", "cron")
    answer_late = record(1, 1, 1, "tty")
    ledger.resolve(answer_late)
    assert outcomes(islice(ledger.watch(), 2)) == ["closed", "late"]
