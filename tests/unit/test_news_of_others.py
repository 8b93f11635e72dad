"""The thread that looks for all who wait: whom it tells, and when it is there."""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable, Hashable, Iterator
from threading import Lock

import pytest

from listeners import see_that_nobody_listens, somebody_looks, until
from processes import PATIENCE
from resolution_ledger import LedgerClosed, StoreBusy, StoreUnavailable
from resolution_ledger.infra import news
from resolution_ledger.infra.bells import Bell
from resolution_ledger.infra.news import Looks, listening, wait_for
from resolution_ledger.infra.runs import PAGE
from unit.fake_log import FakeLog, bells, heard

WHO = ("a", "b", None)
"""The streams that they wait for."""

ALL, NOBODY = [True] * 3, [False] * 3


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """Nobody waits afterwards, and no thread looks."""
    yield
    see_that_nobody_listens()


def _look(heads: dict[Hashable, int]) -> bool:
    """One more look of somebody who remembers these lengths."""
    looks = Looks()
    looks.heads = heads
    return looks.look()


@pytest.mark.parametrize(
    ("known", "streams", "told"),
    [
        (2, "xya", [True, False, True]),
        (2, "xyb", [False, True, True]),
        (2, "xyc", [False, False, True]),
        (2, "xycba", ALL),
        (3, "xya", NOBODY),
        (0, "", NOBODY),
        (0, "a", [True, False, True]),
    ],
)
def test_those_are_told_whose_streams_have_new_events(
    known: int, streams: str, told: list[bool]
) -> None:
    log = FakeLog(*streams)
    heads = {log.place(): known}
    with bells(log, *WHO) as ringing:
        assert _look(heads) == any(told)
        assert heard(ringing) == told
        assert heads == {log: len(streams)}
        assert not _look(heads)
        assert heard(ringing) == NOBODY


@pytest.mark.parametrize(
    ("known", "length"),
    [(None, 0), (None, 5), (6, 5), (5, 0), (1, PAGE + 2), (0, PAGE + 1)],
    ids=["new", "new and long", "shorter", "empty", "a page and more", "more than a page"],
)
def test_all_are_told_where_the_new_events_are_not_known(known: int | None, length: int) -> None:
    log = FakeLog(*["x"] * length)
    with bells(log, *WHO) as ringing:
        assert _look({} if known is None else {log.place(): known})
        assert heard(ringing) == ALL


def test_a_page_exactly_is_read() -> None:
    log = FakeLog(*["x"] * PAGE, "a")
    with bells(log, *WHO) as ringing:
        _look({log: 1})
        assert heard(ringing) == [True, False, True]


def test_all_are_told_if_a_page_ends_before_the_new_events_do() -> None:
    """As one does whose events are large."""
    log = FakeLog(*"xxa")
    log.page_ends_at = 2
    with bells(log, *WHO) as ringing:
        _look({log: 1})
        assert heard(ringing) == ALL


@pytest.mark.parametrize(
    "fault",
    [StoreUnavailable("log", "gone"), LedgerClosed("log", "closed"), ZeroDivisionError()],
    ids=["unavailable", "closed", "any error"],
)
def test_all_are_told_as_long_as_the_log_cannot_be_read_and_once_it_can(fault: Exception) -> None:
    """They look for themselves, and meet what is wrong."""
    log = FakeLog(*"xy")
    heads = {log.place(): 2}
    with bells(log, *WHO) as ringing:
        log.fault = fault
        for _ in range(2):
            assert not _look(heads)
            assert heard(ringing) == ALL
        log.fault = None
        assert _look(heads)
        assert heard(ringing) == ALL
        assert not _look(heads)
        assert heard(ringing) == NOBODY


def test_a_log_that_somebody_else_has_is_no_news_until_it_is_free() -> None:
    log = FakeLog(*"xya")
    heads = {log.place(): 2}
    with bells(log, *WHO) as ringing:
        log.fault = StoreBusy("log", "somebody else has it")
        assert not _look(heads)
        assert heard(ringing) == NOBODY
        log.fault = None
        assert _look(heads)
        assert heard(ringing) == [True, False, True]


def test_each_log_has_those_who_wait_for_it() -> None:
    """One that cannot be read keeps nobody from news of another one."""
    busy, broken, changed, quiet = logs = [FakeLog(*"xa") for _ in range(4)]
    busy.fault, broken.fault = StoreBusy("log", "busy"), ZeroDivisionError()
    heads = {busy: 1, broken: 1, changed: 1, quiet: 2}
    told = [[False], [True], [True], [False]]
    with bells(busy, "a") as b, bells(broken, "a") as r, bells(changed, "a") as c:
        with bells(quiet, "a") as q:
            assert _look(heads)
            assert [heard(ringing) for ringing in (b, r, c, q)] == told
        _look(heads)
        assert quiet not in heads  # nobody waits for it any more
    assert all(log.reads for log in logs)


def test_whoever_comes_while_the_log_is_being_read_is_told_what_it_has_just_missed() -> None:
    """It has looked before the commit that the reading then finds."""
    log, late = FakeLog(*"xy"), Bell()
    coming = listening(log, log.place(), late.ring, "a")
    heads = {log.place(): 2}

    def come_and_miss_it() -> None:
        log.before_reading = lambda: None
        coming.__enter__()
        log.events.append("a")

    with bells(log, "b") as ringing:
        log.before_reading = come_and_miss_it
        _look(heads)
        assert late.heard(0)
        assert heard(ringing) == [False]
    coming.__exit__(None, None, None)


def test_whoever_is_gone_without_having_said_so_is_forgotten() -> None:
    log, bell, gone = FakeLog(), Bell(), [False]
    left_behind = listening(log, log.place(), bell.ring, None, lambda: gone[0])
    left_behind.__enter__()
    _look({})
    assert bell.heard(0)
    gone[0] = True
    _look({})
    assert not bell.heard(0)
    assert log.reads == 1


def test_the_thread_ends_when_nobody_waits_and_begins_again() -> None:
    log = FakeLog()
    for _ in range(3):
        assert not somebody_looks()
        with listening(log, log, lambda: None, None) as see_to_looking:
            see_to_looking()
            until(somebody_looks)
            see_to_looking()
        until(lambda: not somebody_looks())


@pytest.mark.parametrize("moment", ["before", "after"])
def test_whoever_comes_in_the_moment_in_which_the_thread_ends_is_served(
    monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    log, first, late = FakeLog(*"xy"), Bell(), Bell()
    coming = listening(log, log.place(), late.ring, "a")

    class EndingLock:
        def __init__(self) -> None:
            self._lock = Lock()
            self.acquire, self.locked = self._lock.acquire, self._lock.locked
            self.ending = False

        def release(self) -> None:
            if moment == "after":
                self._lock.release()
            if not self.ending:
                self.ending = True
                coming.__enter__()()
                log.events.append("a")
            if moment == "before":
                self._lock.release()

    monkeypatch.setattr(news, "_looking", EndingLock())
    with listening(log, log, first.ring, None) as see_to_looking:
        see_to_looking()
        assert first.heard(PATIENCE)
    assert late.heard(PATIENCE)
    coming.__exit__(None, None, None)
    see_that_nobody_listens()  # before the lock is put back


@pytest.mark.parametrize("begun", [True, False])
def test_a_start_of_the_thread_that_is_interrupted_leaves_it_to_others(
    monkeypatch: pytest.MonkeyPatch, *, begun: bool
) -> None:
    """As by a signal handler that raises."""
    log = FakeLog()

    def start_and_raise(work: Callable[[], None], arguments: tuple[()]) -> None:
        if begun:
            start_new_thread(work, arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(news, "start_new_thread", start_and_raise)
        with pytest.raises(KeyboardInterrupt):
            wait_for(lambda: None, log, seconds=None)
    until(lambda: not somebody_looks())
    log.reads = 0
    assert wait_for(look_until_told(log), log, seconds=PATIENCE) == "found"


def test_whoever_waits_while_the_thread_is_being_started_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a signal handler may, that interrupts the very start."""
    log, told = FakeLog(), []

    def wait_and_start(work: Callable[[], None], arguments: tuple[()]) -> None:
        monkeypatch.setattr(news, "start_new_thread", start_new_thread)
        told.append(wait_for(look_until_told(log), log, seconds=PATIENCE))
        start_new_thread(work, arguments)

    monkeypatch.setattr(news, "start_new_thread", wait_and_start)
    assert wait_for(look_until_told(log), log, seconds=PATIENCE) == "found"
    assert told == ["found"]


def look_until_told(log: FakeLog) -> Callable[[], str | None]:
    """A look that finds something once somebody has looked for all."""
    return lambda: "found" if log.reads else None
