"""Waiting for news: whoever looks before it is there is told that there is some."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest

from listeners import listeners, see_that_nobody_listens, somebody_looks
from processes import PATIENCE
from resolution_ledger import StoreBusy, StoreUnavailable
from resolution_ledger.infra import news
from resolution_ledger.infra.bells import Bell, Deadline
from resolution_ledger.infra.news import announce, close, wait_for
from unit.fake_log import FakeLog, bells, heard


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


@pytest.fixture
def log() -> FakeLog:
    """A log of which nothing can be read just now: nobody learns anything by looking at it."""
    log = FakeLog()
    log.fault = StoreBusy("log", "somebody else has it")
    return log


def test_a_bell_that_rings_before_anybody_waits_is_heard() -> None:
    bell = Bell()
    bell.ring()
    assert bell.heard(0)
    assert not bell.heard(0)


def test_however_often_a_bell_rings_it_is_heard_once() -> None:
    bell = Bell()
    for _ in range(5):
        bell.ring()
    assert bell.heard(None)
    assert not bell.heard(0.001)


@pytest.mark.parametrize("seconds", [0, 0.001, -1, -0.5])
def test_a_bell_that_does_not_ring_is_not_heard(seconds: float) -> None:
    assert not Bell().heard(seconds)


@pytest.mark.parametrize("seconds", [None, PATIENCE, 1e308])
def test_a_bell_wakes_whoever_waits_for_it(seconds: float | None) -> None:
    bell = Bell()
    thread = Thread(target=bell.ring)
    thread.start()
    assert bell.heard(seconds)
    thread.join()


@pytest.mark.parametrize("seconds", [1e308, 10**400], ids=["float", "integer"])
def test_patience_may_be_longer_than_any_clock(seconds: float) -> None:
    left = Deadline(seconds).left
    assert left is not None
    assert left > 1e8


def test_whoever_finds_it_at_once_need_not_be_told(log: FakeLog) -> None:
    assert wait_for(lambda: "found", log, seconds=None) == "found"
    assert log.reads == 0


def test_without_time_one_look_is_all(log: FakeLog) -> None:
    looks: list[int] = []
    assert wait_for(lambda: looks.append(listeners()), log, seconds=0) is None
    assert looks == [0]
    assert not somebody_looks()


@pytest.mark.parametrize("commits", [{1}, {2}, {1, 2}, {2, 3}, {2, 3, 4}])
def test_a_commit_between_a_look_and_the_wait_is_not_lost(log: FakeLog, commits: set[int]) -> None:
    """Each look finds nothing, and something is committed as soon as it has."""
    looks = 0

    def look() -> str | None:
        nonlocal looks
        looks += 1
        if looks > max(commits):
            return "found"
        if looks in commits:
            announce(log, "stream")
        return None

    assert wait_for(look, log, seconds=None, stream="stream") == "found"


def test_what_comes_at_the_last_moment_is_found_without_being_told(log: FakeLog) -> None:
    found = iter([None, None, "found"])
    assert wait_for(lambda: next(found), log, seconds=0.01) == "found"


def test_whoever_finds_nothing_in_time_gets_nothing(log: FakeLog) -> None:
    assert wait_for(lambda: None, log, seconds=0.01) is None


def test_whoever_is_told_in_vain_waits_on(log: FakeLog) -> None:
    looks: list[int] = []

    def look() -> None:
        looks.append(0)
        if len(looks) < 50:
            announce(log, "stream")

    assert wait_for(look, log, seconds=0.01, stream="stream") is None
    assert len(looks) > 50


def test_a_look_that_fails_ends_the_wait_and_leaves_nobody(log: FakeLog) -> None:
    looks = iter([None, None])

    def look() -> None:
        announce(log, "stream")
        if next(looks, 0) == 0:
            raise StoreUnavailable("log", "it has gone")

    with pytest.raises(StoreUnavailable, match="it has gone"):
        wait_for(look, log, seconds=None)


def test_an_announcement_reaches_those_whom_it_concerns() -> None:
    log, elsewhere = FakeLog(), FakeLog()
    with bells(log, "a", "b", None) as here, bells(elsewhere, "a", None) as there:
        announce(log, "a")
        assert heard(here) == [True, False, True]
        assert heard(there) == [False, False]


def test_without_a_place_nobody_is_told_and_the_commit_counts_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = FakeLog()

    def no_place() -> object:
        raise StoreUnavailable("log", "there is no such file")

    with bells(log, None) as ringing:
        monkeypatch.setattr(log, "place", no_place)
        announce(log, "a")
        assert heard(ringing) == [False]


def test_where_nobody_waits_a_commit_asks_for_no_place(
    log: FakeLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "place", None)
    announce(log, "a")


def test_whoever_waits_through_a_database_that_is_closed_is_told() -> None:
    """And those who wait at the same place through another one are not."""
    closed, other = FakeLog(), FakeLog()
    other.place = closed.place  # type: ignore[method-assign]
    with bells(closed, "a", None) as told, bells(other, "a", None) as untold:
        close(closed)
        assert closed.closed
        assert heard(told) == [True, True]
        assert heard(untold) == [False, False]


def test_where_no_thread_can_be_started_waiting_fails_and_leaves_nobody(
    log: FakeLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(news, "start_new_thread", start)
        with pytest.raises(StoreUnavailable, match="can't start new thread"):
            wait_for(lambda: None, log, seconds=None)
    see_that_nobody_listens()
    assert wait_for(lambda: None, log, seconds=0.01) is None
