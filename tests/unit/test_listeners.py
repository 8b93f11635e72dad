"""Those who want to be told, found by the stream that matters to them."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from time import sleep
from typing import Any

import pytest

from processes import PATIENCE
from resolution_ledger.infra.listeners import Listener, Listeners, never
from unit.fake_log import FakeLog

LOG = FakeLog()
THREADS, ROUNDS = 8, 500


def listener(stream: str | None) -> Listener:
    """Somebody to whom this stream matters; None: to whom all do."""
    return Listener(LOG, LOG.place(), lambda: None, stream)


@pytest.fixture
def listeners() -> Listeners:
    """Nobody yet."""
    return Listeners()


def test_at_first_there_is_nobody(listeners: Listeners) -> None:
    assert not listeners
    assert len(listeners) == 0
    assert listeners.all() == listeners.of("a") == listeners.of(None) == ()


def test_each_is_found_by_the_stream_that_matters_to_it(listeners: Listeners) -> None:
    a, b, everything = (listener(stream) for stream in ("a", "b", None))
    for one in (a, b, everything):
        listeners.add(one)
    assert listeners.of("a") == (a,)
    assert listeners.of("b") == (b,)
    assert listeners.of(None) == (everything,)
    assert listeners.of("c") == ()
    assert set(listeners.all()) == {a, b, everything}
    assert listeners
    assert len(listeners) == 3


def test_several_may_have_the_same_stream_and_one_that_goes_takes_nobody_with_it(
    listeners: Listeners,
) -> None:
    here = [listener("a") for _ in range(5)]
    for one in here:
        listeners.add(one)
    while here:
        assert set(listeners.of("a")) == set(listeners.all()) == set(here)
        listeners.discard(here.pop())
    assert listeners.of("a") == listeners.all() == ()


def test_whoever_comes_twice_is_there_once_and_may_go_twice(listeners: Listeners) -> None:
    one, another = listener("a"), listener("a")
    for _ in range(2):
        listeners.add(one)
    listeners.add(another)
    assert len(listeners) == 2
    for _ in range(2):
        listeners.discard(one)
    assert listeners.of("a") == listeners.all() == (another,)


def test_somebody_who_was_never_there_may_go(listeners: Listeners) -> None:
    """A handler that raises may have come before it was added."""
    here = listener("a")
    listeners.add(here)
    for stream in ("a", "b", None):
        listeners.discard(listener(stream))
    assert listeners.of("a") == listeners.all() == (here,)


def test_the_version_is_another_one_whenever_somebody_has_come_or_gone(
    listeners: Listeners,
) -> None:
    seen, here = {listeners.version}, [listener("a"), listener("a"), listener(None)]
    for change in (listeners.add, listeners.discard):
        for one in here:
            change(one)
            assert listeners.version not in seen
            seen.add(listeners.version)
    before = listeners.version
    assert listeners.all() == listeners.of("a") == ()
    assert listeners.version == before


def test_whoever_was_interrupted_while_it_left_is_forgotten_later(listeners: Listeners) -> None:
    """It has left everybody, which is one step, and no more."""
    here, gone, alone = listener("a"), listener("a"), listener("b")
    for one in (here, gone, alone):
        listeners.add(one)
    listeners.everybody.discard(gone)
    listeners.everybody.discard(alone)
    assert listeners.all() == (here,)
    listeners.forget_interrupted()
    assert listeners.of("a") == listeners.all() == (here,)
    assert set(listeners._of) == {"a"}  # noqa: SLF001 (nobody else can tell)


def test_what_was_found_stays_as_it_was_when_somebody_goes(listeners: Listeners) -> None:
    here = [listener("a") for _ in range(3)]
    for one in here:
        listeners.add(one)
    everybody, some = listeners.all(), listeners.of("a")
    for one in here:
        listeners.discard(one)
    assert set(everybody) == set(some) == set(here)


def test_who_does_not_say_otherwise_is_never_taken_to_have_gone() -> None:
    assert listener("a").gone is never
    assert not never()


class SlowDict(dict[Any, Any]):
    """One in which others come in between as often as they can."""

    def setdefault(self, *given: Any) -> Any:
        found = super().setdefault(*given)
        sleep(0.0001)
        return found


def test_whoever_comes_just_as_the_last_one_of_its_stream_goes_is_found(
    listeners: Listeners,
) -> None:
    listeners._of = SlowDict()  # noqa: SLF001 (there is no other way in)

    def come_and_go(_: int) -> int:
        missed = 0
        for _ in range(50):
            own = listener("a")
            listeners.add(own)
            missed += own not in listeners.of("a")
            sleep(0.0001)
            listeners.discard(own)
        return missed

    with ThreadPoolExecutor(THREADS) as threads:
        assert sum(threads.map(come_and_go, range(THREADS))) == 0
    assert listeners.all() == listeners.of("a") == ()


def test_threads_that_come_and_go_at_once_leave_nothing_behind_and_lose_nobody(
    listeners: Listeners,
) -> None:
    """Few streams, so that one is often left by its last one while another one comes."""
    stay = [listener(stream) for stream in ("a", "b", None)]
    for one in stay:
        listeners.add(one)
    start, done = Barrier(THREADS + 1), Event()

    def come_and_go(seed: int) -> int:
        draw = random.Random(seed)  # noqa: S311 (a reproducible draw, no secret)
        missed = 0
        start.wait(PATIENCE)
        for _ in range(ROUNDS):
            own = [listener(draw.choice(("a", "b", "c", "d", None))) for _ in range(3)]
            for one in own:
                listeners.add(one)
            missed += sum(one not in listeners.of(one.stream) for one in own)
            missed += sum(one not in listeners.of(one.stream) for one in stay)
            for one in own:
                listeners.discard(one)
            listeners.forget_interrupted()
        return missed

    def look() -> int:
        missed = 0
        start.wait(PATIENCE)
        while not done.is_set():
            missed += not set(stay) <= set(listeners.all())
        return missed

    with ThreadPoolExecutor(THREADS + 1) as threads:
        looking = threads.submit(look)
        try:
            assert sum(threads.map(come_and_go, range(THREADS))) == 0
        finally:
            done.set()
        assert looking.result(PATIENCE) == 0
    assert set(listeners.all()) == set(stay)
    assert [len(listeners.of(stream)) for stream in ("a", "b", None, "c", "d")] == [1, 1, 1, 0, 0]
    assert set(listeners._of) == {"a", "b", None}  # noqa: SLF001 (nobody else can tell)
