"""The audit of one stream: positions without a gap, and each event decided again."""

from __future__ import annotations

import pytest

from resolution_ledger import Finding
from resolution_ledger.domain.events import (
    Attempt,
    AttemptConflicted,
    AttemptFenced,
    AttemptLate,
    AttemptLost,
    AttemptReplayed,
    Event,
    InstanceClosed,
    ResolutionAdopted,
    ResolutionWon,
    Withdrawal,
    WithdrawalFenced,
    WithdrawalLate,
    WithdrawalLost,
)
from resolution_ledger.projections import rules_audit
from resolution_ledger.projections.rules_audit import StreamAudit
from samples import OTHER_WORKSPACE, attempt, instance, withdrawal

STREAM = instance(0).text

SOUND: list[Event] = [
    ResolutionWon(attempt(0, 0), 1),
    AttemptLost(attempt(1, 1), 2),
    AttemptReplayed(attempt(0, 2), 3),
    AttemptConflicted(attempt(1, 0), 4),
    AttemptConflicted(attempt(1, 2), 5),
    AttemptFenced(attempt(0, 0, OTHER_WORKSPACE), 6),
    AttemptLost(attempt(2, 3), 7),
    WithdrawalLost(withdrawal("expired"), 8),
    WithdrawalFenced(withdrawal("expired", OTHER_WORKSPACE), 9),
    WithdrawalLost(withdrawal("withdrawn"), 10),
]

SOUND_CLOSED: list[Event] = [
    InstanceClosed(withdrawal("expired"), 1),
    AttemptLate(attempt(0, 0), 2),
    WithdrawalLate(withdrawal("withdrawn"), 3),
    AttemptLate(attempt(1, 0), 4),
    AttemptFenced(attempt(0, 0, OTHER_WORKSPACE), 5),
    WithdrawalFenced(withdrawal("withdrawn", OTHER_WORKSPACE), 6),
]

LATER: dict[type[Attempt | Withdrawal], list[type[Event]]] = {
    Attempt: [AttemptLost, AttemptReplayed, AttemptConflicted, AttemptFenced, AttemptLate],
    Withdrawal: [WithdrawalLost, WithdrawalFenced, WithdrawalLate],
}
"""What each can lead to, unless it stands first."""


def never(_: Attempt | Withdrawal, __: int) -> list[Event]:
    """Looks up the events that matter, where that is not due."""
    raise AssertionError("nothing was to be looked up")


def findings(events: list[tuple[int, Event | None]], *, is_instance: bool = True) -> list[Finding]:
    """What is wrong with events at these positions; their sequences are 101, 102, and so on."""
    audit = StreamAudit(STREAM, instance(0) if is_instance else None, never)
    return [
        finding
        for sequence, (position, event) in enumerate(events, start=101)
        for finding in audit.event(sequence, position, event)
    ]


def in_a_row(events: list[Event]) -> list[tuple[int, Event | None]]:
    """The events at positions 1, 2, 3 and so on."""
    return [*enumerate(events, start=1)]


@pytest.mark.parametrize("length", range(len(SOUND) + 1))
@pytest.mark.parametrize("win", [ResolutionWon, ResolutionAdopted])
def test_nothing_is_found_where_the_rules_were_kept(
    length: int, win: type[ResolutionWon | ResolutionAdopted]
) -> None:
    """However the instance was resolved, and however long it is."""
    events = [win(attempt(0, 0), 1), *SOUND[1:]]
    assert findings(in_a_row(events[:length])) == []


@pytest.mark.parametrize("length", range(len(SOUND_CLOSED) + 1))
def test_nothing_is_found_where_the_rules_were_kept_on_a_closed_instance(length: int) -> None:
    """However many came too late."""
    assert findings(in_a_row(SOUND_CLOSED[:length])) == []


def position(sequence: int, expected: int, found: int) -> Finding:
    """A gap."""
    return Finding("position", sequence, STREAM, str(expected), str(found))


def decision(sequence: int, expected: str | None, found: str) -> Finding:
    """An event that should have been another one."""
    return Finding("decision", sequence, STREAM, expected, found)


def test_a_gap_is_found_where_the_stream_goes_on() -> None:
    """Once: what comes after it is measured by it."""
    (first, *others) = SOUND
    events: list[tuple[int, Event | None]] = [(1, first), *enumerate(others, start=5)]
    assert findings(events) == [position(102, 2, 5)]


@pytest.mark.parametrize("start", [-3, 0, 2, 2**63 - 1])
def test_a_stream_that_does_not_begin_at_1_is_found(start: int) -> None:
    """And without its win, all of it should have been something else."""
    assert findings([(start, SOUND[1])]) == [
        position(101, 1, start),
        decision(101, "won", "lost"),
    ]
    assert findings([(start, SOUND_CLOSED[2])]) == [
        position(101, 1, start),
        decision(101, "closed", "withdrawal-late"),
    ]


def test_a_position_that_comes_twice_is_found() -> None:
    """Where no key keeps it from that."""
    assert findings([(1, SOUND[0]), (1, SOUND[1])]) == [position(102, 2, 1)]


@pytest.mark.parametrize(
    ("log", "n", "kind"),
    [
        pytest.param(log, n, kind, id=f"{log[0].tag}-{n}-{kind.tag}")
        for log in (SOUND, SOUND_CLOSED)
        for n, event in enumerate(log[1:], start=1)
        for kind in LATER[type(event.cause)]
    ],
)
def test_an_event_that_should_have_been_another_is_found(
    log: list[Event], n: int, kind: type[Event]
) -> None:
    """With what the rules say of it."""
    event = log[n]
    forged = [*log[:n], kind(event.cause, event.tick)]
    expected = [] if kind is type(event) else [decision(101 + n, event.tag, kind.tag)]
    assert findings(in_a_row(forged)) == expected


@pytest.mark.parametrize(
    ("log", "n"),
    [
        pytest.param(log, n, id=f"{log[0].tag}-{n}")
        for log in (SOUND, SOUND_CLOSED)
        for n in range(len(log))
    ],
)
def test_a_retransmission_on_record_is_found(log: list[Event], n: int) -> None:
    """Nothing should be there."""
    forged = [*log, log[n]]
    assert findings(in_a_row(forged)) == [decision(101 + len(log), None, log[n].tag)]


@pytest.mark.parametrize("win", [ResolutionWon, ResolutionAdopted])
def test_a_second_win_is_found(win: type[ResolutionWon | ResolutionAdopted]) -> None:
    """Whatever the codec would have said of it."""
    forged = [*SOUND, win(attempt(5, 5), 99)]
    assert findings(in_a_row(forged)) == [decision(111, "lost", win.tag)]


@pytest.mark.parametrize("win", [ResolutionWon, ResolutionAdopted])
def test_a_win_of_a_closed_instance_is_found(win: type[ResolutionWon | ResolutionAdopted]) -> None:
    """Once closed, nothing can be answered any more."""
    forged = [*SOUND_CLOSED, win(attempt(5, 5), 99)]
    assert findings(in_a_row(forged)) == [decision(107, "late", win.tag)]


def test_a_closing_of_an_instance_that_was_resolved_or_closed_is_found() -> None:
    """The first event has decided."""
    closing = InstanceClosed(withdrawal("withdrawn"), 99)
    assert findings(in_a_row([SOUND[0], closing])) == [decision(102, "withdrawal-lost", "closed")]
    assert findings(in_a_row([SOUND_CLOSED[0], closing])) == [
        decision(102, "withdrawal-late", "closed")
    ]


def test_what_comes_after_an_event_that_cannot_be_read_cannot_be_decided_again() -> None:
    """Positions still can be followed, its own included."""
    wrong = AttemptFenced(attempt(7, 7), 9)
    events = [(1, SOUND[0]), (2, None), (3, wrong), (5, SOUND[1]), (6, None), (9, wrong)]
    assert findings(events) == [position(104, 4, 5), position(106, 7, 9)]


def test_of_a_stream_that_is_no_instance_only_positions_are_looked_at() -> None:
    """Nobody could have resolved anything there."""
    wrong = AttemptFenced(attempt(7, 7), 9)
    assert findings([(1, wrong), (2, wrong), (4, wrong)], is_instance=False) == [
        position(103, 3, 4)
    ]


def test_of_a_long_stream_each_attempt_has_its_few_events_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those before its own position, once so many are held in memory."""
    monkeypatch.setattr(rules_audit, "LONG", 3)
    asked = []

    def look_up(given: Attempt | Withdrawal, before: int) -> list[Event]:
        asked.append((given, before))
        return SOUND[: before - 1]

    audit = StreamAudit(STREAM, instance(0), look_up)
    for sequence, (place, event) in enumerate(in_a_row(SOUND), start=101):
        assert audit.event(sequence, place, event) == []
    assert asked == [(event.cause, n) for n, event in enumerate(SOUND[3:], start=4)]
    assert audit.event(111, 11, AttemptLost(attempt(0, 9), 99)) == [
        decision(111, "replayed", "lost")
    ]
