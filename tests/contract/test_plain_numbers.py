"""Numbers are taken for their plain value, whatever else a caller's class makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import pytest

from contract.backends import OpenLedger
from listeners import see_that_nobody_listens, until_listening
from processes import PATIENCE
from resolution_ledger import (
    InvalidOption,
    LedgerAdmin,
    LedgerClosed,
    ResolutionLedger,
    StoreBusy,
)
from samples import WORKSPACE, instance, record

GREATEST = 2**63 - 1
"""The last sequence that there can be."""


class Lying:
    """Whoever asks is told something else: every comparison holds, and every sum is the same."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, _: object) -> bool:
        return True

    def _yes(self, _: object) -> bool:
        return True

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _yes

    def _itself(self, *_: object) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __neg__ = __abs__ = _itself

    def _lie(self) -> int:
        return 1

    __int__ = __index__ = __trunc__ = __bool__ = _lie

    def __float__(self) -> float:
        return 1.0


class LyingInt(Lying, int):
    """An integer."""


class LyingFloat(Lying, float):
    """A number of seconds."""


Call = Callable[[ResolutionLedger], object]

REFUSED: dict[str, tuple[str, Call]] = {
    "watch past -1": ("after", lambda ledger: ledger.watch(LyingInt(-1))),
    "watch past 2**63": ("after", lambda ledger: ledger.watch(LyingInt(2**63))),
    "wait -1": ("timeout", lambda ledger: ledger.wait(instance(1), LyingInt(-1))),
    "wait -1.0": ("timeout", lambda ledger: ledger.wait(instance(1), LyingFloat(-1.0))),
    "wait nan": ("timeout", lambda ledger: ledger.wait(instance(1), LyingFloat("nan"))),
    "0 losers": ("limit", lambda ledger: ledger.losers(LyingInt(0))),
    "-1 losers": ("limit", lambda ledger: ledger.losers(LyingInt(-1))),
    "2**63 losers": ("limit", lambda ledger: ledger.losers(LyingInt(2**63))),
}


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


@pytest.fixture
def lost(ledger: ResolutionLedger) -> ResolutionLedger:
    """A ledger in which response 0 has won instance 0, and four have lost it."""
    for n in range(5):
        ledger.resolve(record(0, n, n))
    return ledger


@pytest.mark.parametrize(("option", "call"), REFUSED.values(), ids=REFUSED)
def test_a_number_that_cannot_be_is_refused_whatever_it_compares_to(
    lost: ResolutionLedger, option: str, call: Call
) -> None:
    with pytest.raises(InvalidOption, match=option):
        call(lost)


def test_a_sequence_is_taken_for_its_plain_value(lost: ResolutionLedger) -> None:
    watched = islice(lost.watch(LyingInt(2)), 3)
    assert [attempt.sequence for attempt in watched] == [3, 4, 5]


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_a_limit_is_taken_for_its_plain_value(lost: ResolutionLedger, limit: int) -> None:
    assert len(lost.losers(LyingInt(limit))) == min(limit, 4)


@pytest.mark.parametrize("timeout", [LyingInt(0), LyingFloat(0.0), LyingFloat(0.01)])
def test_a_timeout_is_taken_for_its_plain_value(lost: ResolutionLedger, timeout: float) -> None:
    assert lost.wait(instance(9), timeout) is None


@pytest.mark.parametrize("timeout", [LyingInt(10**9), LyingFloat("inf"), LyingFloat(1e300)])
def test_a_long_timeout_is_a_long_one(lost: ResolutionLedger, timeout: float) -> None:
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(lost.wait, instance(9), timeout)
        until_listening()
        assert not waiting.done()
        lost.close()
        with pytest.raises(LedgerClosed):
            waiting.result(PATIENCE)


@pytest.mark.parametrize(
    "options",
    [{"lock_timeout": LyingInt(-1)}, {"lock_timeout": LyingFloat(-1.0)}]
    + [{"lock_timeout": LyingFloat(value)} for value in ("nan", "inf", "1e300")],
)
@pytest.mark.parametrize("door", ["ledger", "admin"])
def test_a_lock_timeout_that_cannot_be_is_refused_whatever_it_compares_to(
    options: dict[str, Any], door: str
) -> None:
    open_: Callable[..., object] = LedgerAdmin.open
    if door == "ledger":
        open_ = partial(ResolutionLedger.open, workspace=WORKSPACE)
    with pytest.raises(InvalidOption, match="lock_timeout"):
        open_(":memory:", **options)


def test_a_lock_timeout_is_taken_for_its_plain_value() -> None:
    told: list[object] = []

    def clock() -> int:
        with ThreadPoolExecutor(1) as threads, pytest.raises(StoreBusy) as busy:
            threads.submit(ledger.resolve, record(2, 2, 2)).result(PATIENCE)
        told.append(busy.type)
        return 0

    with ResolutionLedger.open(
        ":memory:", workspace=WORKSPACE, lock_timeout=LyingFloat(0.01), clock=clock
    ) as ledger:
        ledger.resolve(record(1, 1, 1))
    assert told == [StoreBusy]


@pytest.mark.parametrize("after", [GREATEST, GREATEST - 1, LyingInt(GREATEST)])
def test_a_watch_past_the_last_sequence_that_can_be_waits(
    open_ledger: OpenLedger, after: int
) -> None:
    ledger = open_ledger()
    ledger.create()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(next, ledger.watch(after))
        until_listening()
        ledger.resolve(record(1, 1, 1))
        assert not waiting.done()
        ledger.close()
        with pytest.raises(LedgerClosed):
            waiting.result(PATIENCE)
