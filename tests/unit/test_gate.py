"""The gate: one is through at a time, the others come next, and nobody leaves a lock behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest

from integration.gates import descriptors, gate_of, helpers, is_free, somebody_at_the_gate
from listeners import until
from processes import PATIENCE
from resolution_ledger.infra import bells
from resolution_ledger.infra.sqlite import gate as module
from resolution_ledger.infra.sqlite.gate import Gate

pytest.importorskip("fcntl")

HANGING = 30.0
MOMENT = 0.1

seen = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no system to tell")


def no_more_threads(*_: object) -> None:
    """What starting one comes to where there are too many."""
    raise RuntimeError("can't start new thread")


@contextmanager
def nothing_left(path: Path) -> Iterator[None]:
    """Afterwards there are no threads that were not there before, and no descriptors."""
    before = helpers()
    yield
    until(lambda: helpers() == before)
    until(lambda: str(gate_of(path)) not in descriptors())
    assert is_free(path)


@pytest.mark.parametrize("seconds", [0, MOMENT])
def test_one_is_through_at_a_time(new_gate: Callable[[], Gate], path: Path, seconds: float) -> None:
    first, second = new_gate(), new_gate()
    assert first.enter(seconds)
    assert not is_free(path)
    began = monotonic()
    assert not second.enter(seconds)
    assert seconds <= monotonic() - began < HANGING
    assert (first.may_hold, second.may_hold) == (True, False)
    second.leave()
    assert not is_free(path)
    first.leave()
    assert second.enter(HANGING)  # there may be its own helper just before it
    second.leave()
    until(lambda: is_free(path))


def test_whoever_waits_comes_next(new_gate: Callable[[], Gate], path: Path) -> None:
    gates = [new_gate() for _ in range(8)]
    order: list[Gate] = []

    def come_through(gate: Gate) -> None:
        assert gate.enter(PATIENCE)
        order.append(gate)
        gate.leave()

    with ThreadPoolExecutor(len(gates)) as threads:
        with somebody_at_the_gate(path):
            calls = [threads.submit(come_through, gate) for gate in gates]
            until(lambda: helpers() >= len(gates))
            assert not order
        for call in calls:
            call.result(HANGING)
    assert {*map(id, order)} == {*map(id, gates)}
    assert is_free(path)


def test_the_one_who_has_come_through_by_waiting_may_come_again_and_again(
    gate: Gate, path: Path
) -> None:
    with ThreadPoolExecutor() as threads:
        for _ in range(5):
            with somebody_at_the_gate(path):
                call = threads.submit(gate.enter, PATIENCE)
                with pytest.raises(TimeoutError):
                    call.result(MOMENT / 5)
            assert call.result(HANGING)
            assert not is_free(path)
            gate.leave()
            assert is_free(path)
            assert gate.enter(0)
            gate.leave()


def test_a_helper_whose_caller_has_given_up_gives_the_lock_back(gate: Gate, path: Path) -> None:
    with somebody_at_the_gate(path):
        assert not gate.enter(MOMENT)
        gate.leave()
    until(lambda: is_free(path))


def test_a_helper_whose_caller_has_given_up_serves_the_next_request(gate: Gate, path: Path) -> None:
    with ThreadPoolExecutor() as threads:
        with somebody_at_the_gate(path):
            for _ in range(3):
                assert not gate.enter(MOMENT / 5)
                gate.leave()
            call = threads.submit(gate.enter, PATIENCE)
            with pytest.raises(TimeoutError):
                call.result(MOMENT / 5)
            assert helpers() == 1
        assert call.result(HANGING)
    until_over = monotonic() + MOMENT
    while monotonic() < until_over:
        assert not is_free(path)
    gate.leave()
    until(lambda: is_free(path))


def test_what_is_granted_at_the_last_moment_counts(
    gate: Gate, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The helper has got the lock when its caller's time is over, and says so a moment later."""

    class Late(bells.Bell):
        def heard(self, seconds: float | None) -> bool:
            heard = super().heard(seconds if seconds is None else HANGING)
            return heard if seconds is None else not heard

    monkeypatch.setattr(module, "Bell", Late)
    with ThreadPoolExecutor() as threads:
        with somebody_at_the_gate(path):
            call = threads.submit(gate.enter, PATIENCE)
            with pytest.raises(TimeoutError):
                call.result(MOMENT)
        assert call.result(HANGING)
    assert not is_free(path)
    gate.leave()
    assert is_free(path)


@seen
@pytest.mark.parametrize("how", ["closed", "dropped"])
@pytest.mark.parametrize("when", ["unused", "through", "having waited", "having given up"])
def test_no_thread_no_descriptor_and_no_lock_outlives_it(path: Path, how: str, when: str) -> None:
    with nothing_left(path):
        gate = Gate(str(path))
        if when == "through":
            assert gate.enter(0)
        elif when == "having waited":
            with ThreadPoolExecutor() as threads:
                with somebody_at_the_gate(path):
                    call = threads.submit(gate.enter, PATIENCE)
                    until(helpers)
                assert call.result(HANGING)
        elif when == "having given up":
            with somebody_at_the_gate(path):
                assert not gate.enter(MOMENT / 5)
        if how == "closed":
            gate.close()
        del gate


@seen
def test_a_helper_that_waits_for_good_ends_once_it_comes_through(path: Path) -> None:
    with nothing_left(path):
        with somebody_at_the_gate(path):
            gate = Gate(str(path))
            assert not gate.enter(MOMENT / 5)
            gate.close()
            assert helpers() == 1
            assert gate.enter(0) is False  # it can be used again meanwhile
        assert gate.enter(PATIENCE)
        gate.close()


def test_where_no_thread_can_be_started_nobody_waits(
    path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "start_new_thread", no_more_threads)
    with somebody_at_the_gate(path):
        assert gate.enter(PATIENCE)
        gate.leave()


@seen
def test_where_no_thread_can_be_started_nothing_is_left_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "start_new_thread", no_more_threads)
    with somebody_at_the_gate(path):
        before = len(descriptors())
        for _ in range(3):
            gate = Gate(str(path))
            assert gate.enter(PATIENCE)
            gate.close()
        assert len(descriptors()) == before


@pytest.mark.parametrize("again", ["entered", "left", "closed"])
def test_each_step_may_be_taken_twice(gate: Gate, path: Path, again: str) -> None:
    assert gate.enter(0)
    if again == "entered":
        assert gate.enter(0)
        assert not is_free(path)
    gate.leave()
    if again == "left":
        gate.leave()
    gate.close()
    if again == "closed":
        gate.close()
    assert is_free(path)
    assert gate.enter(0)


def test_what_an_interrupted_constructor_leaves_is_closed_without_a_word() -> None:
    """A signal handler may raise before it has done anything. Python tells what a del raises."""
    half_made = Gate.__new__(Gate)
    half_made.__del__()
    half_made.close()
