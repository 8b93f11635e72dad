"""The line: whoever has had its turn lines up behind those who wait, and nobody waits too long."""

from __future__ import annotations

from typing import cast

import pytest

from resolution_ledger import StoreBusy
from resolution_ledger.infra.sqlite import line as module
from resolution_ledger.infra.sqlite.connection import OpenConnection
from resolution_ledger.infra.sqlite.gate import Gate
from resolution_ledger.infra.sqlite.line import Line

TURN = module._QUANTUM  # noqa: SLF001 (as long as it is)
FOR_EVER = 1e6


class World:
    """The time, the lock and the gate, and what was done there."""

    def __init__(self) -> None:
        self.now = 100.0
        self.done: list[str] = []
        self.lock_free_from = 0.0
        self.gate_free_from = 0.0
        self.asked: list[float] = []
        self.may_hold = False

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds

    # As a connection

    def begin(self) -> None:
        self.asked.append(self.now)
        if self.now < self.lock_free_from:
            self.done.append("locked")
            raise StoreBusy("ledger.db", "locked")
        self.done.append("begun")

    # As a gate

    def enter(self, seconds: float) -> bool:
        free = self.now + seconds >= self.gate_free_from
        self.now = min(max(self.now, self.gate_free_from), self.now + seconds)
        self.may_hold = free
        self.done.append("through" if free else "not through")
        return free

    def leave(self) -> None:
        self.may_hold = False

    def did(self) -> list[str]:
        """What was done since this was last asked."""
        done, self.done = self.done, []
        return done


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(module, "monotonic", world.monotonic)
    monkeypatch.setattr(module, "sleep", world.sleep)
    return world


@pytest.fixture
def line(world: World) -> Line:
    assert world.did() == []
    return Line(cast(Gate, world))


def begin_at_once(line: Line, world: World) -> bool:
    return line.begin_at_once(cast(OpenConnection, world))


def begin(line: Line, world: World, seconds: float = FOR_EVER) -> None:
    line.begin(cast(OpenConnection, world), world.now + seconds)


def meet_somebody(line: Line, world: World) -> None:
    """Find the lock taken, and come through."""
    world.lock_free_from = world.now + TURN
    assert not begin_at_once(line, world)
    begin(line, world)
    world.leave()
    assert "locked" in world.did()


def test_whoever_has_met_nobody_asks_for_the_lock_alone(line: Line, world: World) -> None:
    for _ in range(5):
        assert begin_at_once(line, world)
        world.leave()
        world.now += 1
    assert world.did() == ["begun"] * 5


def test_whoever_finds_the_lock_taken_lines_up_before_it_asks_again(
    line: Line, world: World
) -> None:
    world.lock_free_from = world.now + TURN / 100
    world.gate_free_from = world.now + TURN / 10
    assert not begin_at_once(line, world)
    begin(line, world)
    assert world.did() == ["locked", "through", "begun"]
    assert world.may_hold


def test_whoever_has_come_through_writes_for_a_turn_and_then_lines_up_behind_those_who_wait(
    line: Line, world: World
) -> None:
    meet_somebody(line, world)
    world.gate_free_from = world.now + 10 * TURN  # the next one is there
    for _ in range(9):
        world.now += TURN / 10
        assert begin_at_once(line, world)
        world.leave()
    assert world.did() == ["begun"] * 9
    world.now += TURN
    assert not begin_at_once(line, world)
    assert world.did() == ["not through"]  # and does not ask for the lock
    begin(line, world)
    assert world.did() == ["through", "begun"]
    assert world.now >= world.gate_free_from


def test_where_nobody_is_in_line_any_more_nobody_lines_up(line: Line, world: World) -> None:
    meet_somebody(line, world)
    world.now += 2 * TURN
    assert begin_at_once(line, world)
    assert world.did() == ["through", "begun"]
    world.leave()
    for _ in range(5):
        world.now += 2 * TURN
        assert begin_at_once(line, world)
        world.leave()
    assert world.did() == ["begun"] * 5


def test_the_gate_stays_taken_until_the_transaction_is_over(line: Line, world: World) -> None:
    meet_somebody(line, world)
    world.now += 2 * TURN
    assert begin_at_once(line, world)
    assert world.may_hold
    world.leave()
    assert not world.may_hold


def test_nobody_stands_in_line_for_longer_than_a_second(line: Line, world: World) -> None:
    began = world.now
    world.gate_free_from = began + FOR_EVER
    begin(line, world)
    assert world.did() == ["not through", "begun"]
    assert world.now == pytest.approx(began + 1)


@pytest.mark.parametrize("seconds", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("taken", ["the gate", "the lock", "both"])
def test_whoever_gives_up_does_so_in_time_and_not_before(
    line: Line, world: World, seconds: float, taken: str
) -> None:
    began = world.now
    world.lock_free_from = began + FOR_EVER
    if taken != "the lock":
        world.gate_free_from = began + FOR_EVER
    with pytest.raises(StoreBusy):
        begin(line, world, seconds)
    assert world.now == pytest.approx(began + seconds)
    assert world.asked[-1] == pytest.approx(began + seconds)  # at the last moment, too


def test_whoever_is_first_asks_often_where_the_turn_before_it_ends_and_seldom_later(
    line: Line, world: World
) -> None:
    began = world.now
    world.lock_free_from = began + 10.0
    begin(line, world)
    pauses = [later - earlier for earlier, later in zip(world.asked, world.asked[1:], strict=False)]
    assert world.now < began + 10.0 + 0.05
    assert max(pauses) < 0.05
    around = [one for one in world.asked if 0.5 * TURN <= one - began <= 2 * TURN]
    assert len(around) >= 5
    assert len(world.asked) < 1500


def test_it_does_not_line_up_twice(line: Line, world: World) -> None:
    """For the transaction in which the log was copied ends, and another one begins."""
    begin(line, world)
    assert world.did() == ["through", "begun"]
    begin(line, world)
    assert world.did() == ["begun"]
