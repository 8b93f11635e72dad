"""The clock: injected, read once for an event, and never trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from answers import answer, everything
from contract.backends import OpenLedger, in_the_callers_thread
from resolution_ledger import InvalidTick, ResolutionLedger, StoreBusy, Won
from samples import instance, record
from submissions import Closing, Submission


class Ticking:
    """A clock that shows what it is set to, or raises it."""

    def __init__(self, tick: object = 0) -> None:
        self.tick = tick

    def __call__(self) -> int:
        if isinstance(self.tick, BaseException):
            raise self.tick
        return self.tick  # type: ignore[return-value]  # the point of some tests


@pytest.mark.parametrize("tick", [0, 1, -1, -(2**63), 2**63 - 1, 1_700_000_000_000_000_000])
def test_what_the_clock_shows_is_on_record(open_ledger: OpenLedger, tick: int) -> None:
    ledger = open_ledger(clock=lambda: tick)
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    assert [attempt.tick for attempt in ledger.history(instance(1))] == [tick, tick]
    assert [attempt.tick for attempt in ledger.losers()] == [tick]


def test_the_clock_is_read_once_for_an_event_and_not_for_a_retransmission(
    open_ledger: OpenLedger,
) -> None:
    ticks: Iterator[int] = count(100)
    ledger = open_ledger(clock=lambda: next(ticks))
    for r, k in [(1, 1), (1, 1), (2, 2), (2, 2), (3, 2), (1, 1), (3, 3)]:
        answer(ledger, record(1, r, k))
    for reason in ("expired", "expired", "withdrawn", "expired"):
        answer(ledger, Closing(instance(1), reason))
    assert [attempt.tick for attempt in ledger.history(instance(1))] == [*range(100, 106)]


def test_a_clock_that_runs_backwards_changes_nothing_but_the_ticks(
    open_ledger: OpenLedger,
) -> None:
    ticks: Iterator[int] = count(100, -1)
    ledger = open_ledger(clock=lambda: next(ticks))
    assert ledger.resolve(record(1, 1, 1)) == Won()
    ledger.resolve(record(1, 2, 2))
    history = ledger.history(instance(1))
    assert [(attempt.position, attempt.tick) for attempt in history] == [(1, 100), (2, 99)]


NOT_TICKS = {
    "None": None,
    "text": "5",
    "float": 1.5,
    "bool": True,
    "bytes": b"1",
    "beyond 64 bits": 2**63,
    "below 64 bits": -(2**63) - 1,
    "5,000 digits": 10**5000,
}


@pytest.mark.parametrize("tick", NOT_TICKS.values(), ids=NOT_TICKS)
@pytest.mark.parametrize("resolved", [False, True], ids=["first", "later"])
@pytest.mark.parametrize(
    "sent", [record(1, 1, 1), Closing(instance(1), "expired")], ids=["answer", "withdrawal"]
)
def test_a_clock_that_shows_no_tick_leaves_no_trace_and_the_next_call_works(
    open_ledger: OpenLedger, *, tick: object, resolved: bool, sent: Submission
) -> None:
    clock = Ticking()
    ledger = open_ledger(clock=clock)
    ledger.resolve(record(0, 1, 1))
    if resolved:
        ledger.resolve(record(1, 2, 2))
    before = everything([ledger])

    clock.tick = tick
    with pytest.raises(InvalidTick) as error:
        answer(ledger, sent)
    assert error.value.tick is tick
    assert everything([ledger]) == before

    clock.tick = 7
    answer(ledger, sent)
    assert everything([ledger])[len(before) :] == list(ledger.history(instance(1))[-1:])


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, MemoryError])
def test_what_a_clock_raises_reaches_the_caller_and_nothing_is_on_record(
    open_ledger: OpenLedger, error: Callable[[], BaseException]
) -> None:
    clock = Ticking()
    ledger = open_ledger(clock=clock)
    ledger.resolve(record(0, 1, 1))
    clock.tick = raised = error()
    with pytest.raises(type(raised)) as seen:
        ledger.resolve(record(1, 1, 1))
    assert seen.value is raised
    assert ledger.history(instance(1)) == ()
    assert ledger.winner(instance(1)) is None

    clock.tick = 7
    assert ledger.resolve(record(1, 1, 1)) == Won()
    assert ledger.history(instance(1))[0].sequence == 2


def test_two_ledger_objects_have_each_their_own_clock(open_ledger: OpenLedger) -> None:
    first, second = (open_ledger(clock=Ticking(tick)) for tick in (1, 2))
    first.resolve(record(1, 1, 1))
    second.resolve(record(1, 2, 2))
    assert [attempt.tick for attempt in first.history(instance(1))] == [1, 2]


def test_the_clock_shows_wall_time_by_default(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    (won,) = ledger.history(instance(1))
    assert won.tick > 1_700_000_000_000_000_000  # 2023: any real clock is past that


@in_the_callers_thread
@pytest.mark.parametrize(
    "again",
    [record(2, 1, 1), record(1, 1, 1), Closing(instance(2), "expired")],
    ids=["resolve", "the same", "withdraw"],
)
def test_a_clock_that_resolves_or_withdraws_is_told_at_once_that_it_cannot(
    open_ledger: OpenLedger, again: Submission
) -> None:
    told: list[object] = []

    def clock() -> int:
        try:
            told.append(answer(ledger, again))
        except StoreBusy as error:
            told.append(error.reason)
        return 0

    ledger = open_ledger(clock=clock)
    assert ledger.resolve(record(1, 1, 1)) == Won()
    assert told == ["this thread is inside a call already"]
    assert ledger.history(instance(2)) == ()
