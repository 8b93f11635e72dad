"""Histories that some order explains are accepted, and those that none does are refused."""

from __future__ import annotations

import pytest

from histories import (
    ELSEWHERE,
    A,
    B,
    C,
    attempt,
    call,
    entry,
    history,
    showing,
    wait,
    winner,
    withdrawal,
)
from torture.checker import refusals
from torture.history import (
    Call,
    Closed,
    Conflict,
    Failed,
    Lost,
    Nothing,
    Outside,
    Replayed,
    Unknown,
    WinnerIs,
    Withdrawn,
    Won,
)

NOBODY = WinnerIs(None)

BAD: dict[str, list[Call]] = {
    "two winners": [call(1, 2, attempt(A, "a"), Won()), call(1, 2, attempt(B, "b"), Won())],
    "two withdrawals": [
        call(1, 2, withdrawal(), Withdrawn()),
        call(1, 2, withdrawal("withdrawn"), Withdrawn()),
    ],
    "a winner and a withdrawal": [
        call(1, 2, attempt(A), Won()),
        call(1, 2, withdrawal(), Withdrawn()),
    ],
    "a loser that is told another name": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "b"), Lost(C)),
    ],
    "two losers that are told different names": [
        call(1, None, attempt(A, "a"), None),
        call(1, None, attempt(B, "b"), None),
        call(3, 4, attempt(C, "c"), Lost(A)),
        call(3, 4, attempt(C, "d"), Lost(B)),
    ],
    "a Lost before anything was invoked that could have won": [
        call(1, 2, attempt(B, "b"), Lost(A)),
        call(3, 4, attempt(A, "a"), Won()),
    ],
    "a Lost to what nobody has asked for": [call(1, 2, attempt(B, "b"), Lost(A))],
    "a Lost to what has failed": [
        call(1, 2, attempt(A, "a"), Failed("StoreBusy")),
        call(3, 4, attempt(B, "b"), Lost(A)),
    ],
    "a Lost before what may have won was invoked": [
        call(1, 2, attempt(B, "b"), Lost(A)),
        call(3, None, attempt(A, "a"), None),
    ],
    "an answer that a later read contradicts": [
        call(1, 2, attempt(A), Won()),
        call(3, 4, winner(), NOBODY),
    ],
    "an answer that another read contradicts": [
        call(1, 2, attempt(A), Won()),
        call(3, 4, winner(), WinnerIs(B)),
    ],
    "a winner that is forgotten again": [
        call(1, None, attempt(A), None),
        call(3, 4, winner(), WinnerIs(A)),
        call(5, 6, winner(), NOBODY),
    ],
    "a winner before it was invoked": [
        call(1, 2, winner(), WinnerIs(A)),
        call(3, 4, attempt(A), Won()),
    ],
    "a winner of another workspace": [
        call(1, 2, attempt(A), Won()),
        call(3, 4, winner(ELSEWHERE), WinnerIs(A)),
    ],
    "a Won after a Lost had ended": [
        call(1, 9, attempt(A, "x"), Unknown("KeyboardInterrupt")),
        call(2, 3, attempt(B, "b"), Lost(A)),
        call(4, 5, attempt(A, "a"), Won()),
    ],
    "own to another submission": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(A, "b"), Replayed(A, own=True)),
    ],
    "not own to the one that won": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(A, "a"), Replayed(A, own=False)),
    ],
    "own to two": [
        call(1, None, attempt(A, "a"), None),
        call(1, None, attempt(A, "b"), None),
        call(3, 4, attempt(A, "a"), Replayed(A, own=True)),
        call(3, 4, attempt(A, "b"), Replayed(A, own=True)),
    ],
    "Replayed to another response": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "b"), Replayed(A, own=False)),
    ],
    "Lost to the same response": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(A, "b"), Lost(A)),
    ],
    "Lost under the winner's key": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "a"), Lost(A)),
    ],
    "Lost twice under one key": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "k"), Lost(A)),
        call(3, 4, attempt(C, "k"), Lost(A)),
    ],
    "a conflict with one who has not used the key": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "k"), Conflict(C)),
    ],
    "a conflict with one who used the key later": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "k"), Conflict(C)),
        call(5, None, attempt(C, "k"), None),
    ],
    "a conflict with oneself": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "k"), Conflict(B)),
    ],
    "conflicts with two owners": [
        call(1, 2, attempt(A, "a"), Won()),
        call(1, None, attempt(B, "k"), None),
        call(1, None, attempt(C, "k"), None),
        call(3, 4, attempt(C, "k"), Conflict(B)),
        call(3, 4, attempt(B, "k"), Conflict(C)),
    ],
    "a key that is lost under after the winner's response has taken it": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(A, "k"), Replayed(A, own=False)),
        call(5, 6, attempt(B, "k"), Lost(A)),
    ],
    "a conflict before the winner's response has taken the key": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "k"), Conflict(A)),
        call(5, 6, attempt(A, "k"), Replayed(A, own=False)),
    ],
    "Outside to the own workspace": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "b"), Outside()),
    ],
    "Lost to another workspace": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "b", ELSEWHERE), Lost(A)),
    ],
    "closed for another reason": [
        call(1, 2, withdrawal("expired"), Withdrawn()),
        call(3, 4, attempt(A), Closed("withdrawn")),
    ],
    "a withdrawal after an answer": [
        call(1, 2, attempt(A), Won()),
        call(3, 4, withdrawal(), Closed("expired")),
    ],
    "an answer after a withdrawal": [
        call(1, 2, withdrawal(), Withdrawn()),
        call(3, 4, attempt(A), Lost(B)),
    ],
    "closed before it was": [
        call(1, 2, attempt(A), Closed("expired")),
        call(3, 4, withdrawal(), Withdrawn()),
    ],
    "a conflict where it was closed": [
        call(1, 2, withdrawal(), Withdrawn()),
        call(3, 4, attempt(A, "k"), Conflict(B)),
    ],
    "a history that lacks what was acknowledged": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "b"), Lost(A)),
        call(5, 6, history(), showing(entry(1, "won", attempt(A, "a")))),
    ],
    "a history of what nobody had asked for": [
        call(5, 6, history(), showing(entry(1, "won", attempt(A, "a")))),
        call(7, 8, attempt(A, "a"), Won()),
    ],
    "histories that begin differently": [
        call(1, None, attempt(A, "a"), None),
        call(1, None, attempt(B, "b"), None),
        call(3, 9, history(), showing(entry(1, "won", attempt(A, "a")))),
        call(3, 9, history(), showing(entry(1, "won", attempt(B, "b")))),
    ],
    "a history of another one that came first": [
        call(1, 2, attempt(A, "a"), Won()),
        call(1, None, attempt(B, "b"), None),
        call(
            *(3, 4, history()),
            showing(entry(1, "won", attempt(B, "b")), entry(2, "lost", attempt(A, "a"))),
        ),
    ],
    "a history in which the first one is not first": [
        call(1, None, attempt(A, "a"), None),
        call(3, 4, attempt(B, "b"), Lost(A)),
        call(
            *(5, 6, history()),
            showing(entry(1, "won", attempt(B, "b")), entry(2, "lost", attempt(A, "a"))),
        ),
    ],
    "a history that has become shorter": [
        call(1, 2, attempt(A, "a"), Won()),
        call(1, None, attempt(B, "b"), None),
        call(
            *(3, 4, history()),
            showing(entry(1, "won", attempt(A, "a")), entry(2, "lost", attempt(B, "b"))),
        ),
        call(5, 6, history(), showing(entry(1, "won", attempt(A, "a")))),
    ],
    "histories that go on differently": [
        call(1, 2, attempt(A, "a"), Won()),
        call(1, None, attempt(B, "b"), None),
        call(1, None, attempt(C, "c"), None),
        call(3, 9, history(), showing(entry(1, "won", attempt(A, "a")))),
        call(
            *(3, 9, history()),
            showing(entry(1, "won", attempt(A, "a")), entry(2, "lost", attempt(B, "b"))),
        ),
        call(
            *(3, 9, history()),
            showing(entry(1, "won", attempt(A, "a")), entry(2, "lost", attempt(C, "c"))),
        ),
    ],
    "a history that lacks what was first acknowledged long ago": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "b"), Lost(A)),
        call(3, 9, attempt(B, "b"), Lost(A)),
        call(5, 6, history(), showing(entry(1, "won", attempt(A, "a")))),
    ],
    "an empty history after another workspace was told that something is there": [
        call(1, None, withdrawal(), None),
        call(3, 4, attempt(A, "a", ELSEWHERE), Outside()),
        call(5, 6, history(), showing()),
    ],
    "Lost under the key of a winner that was killed": [
        call(1, None, attempt(A, "a"), None),
        call(3, 4, attempt(B, "a"), Lost(A)),
    ],
    "nothing to wait for after a win of another workspace": [
        call(1, 2, attempt(A), Won()),
        call(3, 4, wait(ELSEWHERE), Nothing()),
    ],
    "nothing to wait for after a withdrawal": [
        call(1, 2, withdrawal(), Withdrawn()),
        call(3, 4, wait(), Nothing()),
    ],
    "another end of the waiting": [
        call(1, 2, withdrawal(), Withdrawn()),
        call(3, 4, wait(), Closed("withdrawn")),
    ],
    "a winner that another workspace has waited for": [
        call(1, 2, attempt(A), Won()),
        call(3, 4, wait(ELSEWHERE), WinnerIs(A)),
    ],
    "an end of the waiting before it was decided": [
        call(1, 2, wait(), WinnerIs(A)),
        call(3, 4, attempt(A), Won()),
    ],
    "an empty history after a withdrawal": [
        call(1, 2, withdrawal(), Withdrawn()),
        call(3, 4, history(), showing()),
    ],
}

GOOD: dict[str, list[Call]] = {
    "nothing at all": [call(1, 2, winner(), NOBODY), call(1, 2, history(), showing())],
    "a loser that is told before the winner is": [
        call(1, 9, attempt(A, "a"), Won()),
        call(2, 3, attempt(B, "b"), Lost(A)),
    ],
    "a winner that was killed": [
        call(1, None, attempt(A, "a"), None),
        call(3, 4, attempt(B, "b"), Lost(A)),
    ],
    "a winner that was killed and asks again": [
        call(1, None, attempt(A, "a"), None),
        call(3, 4, attempt(B, "b"), Lost(A)),
        call(5, 6, attempt(A, "a"), Replayed(A, own=True)),
    ],
    "a call of unknown fate that happens late": [
        call(1, 2, attempt(A, "a"), Unknown("KeyboardInterrupt")),
        call(3, 4, winner(), NOBODY),
        call(5, 6, attempt(B, "b"), Lost(A)),
    ],
    "a call of unknown fate that never happens": [
        call(1, 2, attempt(A, "a"), Unknown("StoreUnavailable")),
        call(3, 4, attempt(B, "b"), Won()),
    ],
    "one of two of unknown fate": [
        call(1, None, attempt(A, "a"), None),
        call(2, None, attempt(B, "b"), None),
        call(3, 4, attempt(C, "c"), Lost(B)),
    ],
    "the one of two equal responses that is told so": [
        call(1, None, attempt(A, "a"), None),
        call(2, None, attempt(A, "b"), None),
        call(3, 4, attempt(A, "b"), Replayed(A, own=True)),
        call(3, 4, attempt(A, "a"), Replayed(A, own=False)),
    ],
    "a read that saw nothing beside a win": [
        call(1, 9, attempt(A, "a"), Won()),
        call(2, 8, winner(), NOBODY),
        call(2, 8, winner(), WinnerIs(A)),
    ],
    "others see no winner": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, winner(ELSEWHERE), NOBODY),
        call(3, 4, attempt(A, "a", ELSEWHERE), Outside()),
        call(5, 6, history(ELSEWHERE), showing(entry(2, "fenced", attempt(A, "a", ELSEWHERE)))),
    ],
    "no winner of what is closed": [
        call(1, 2, withdrawal(), Withdrawn()),
        call(3, 4, winner(), NOBODY),
        call(3, 4, withdrawal("withdrawn"), Closed("expired")),
        call(3, 4, withdrawal(), Closed("expired")),
    ],
    "waiting": [
        call(1, 2, wait(), Nothing()),
        call(3, 6, attempt(A, "a"), Won()),
        call(3, 6, wait(), Nothing()),
        call(3, 6, wait(), WinnerIs(A)),
        call(3, 6, wait(ELSEWHERE), Outside()),
    ],
    "a key that a loser owns": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(B, "k"), Lost(A)),
        call(5, 6, attempt(C, "k"), Conflict(B)),
        call(7, 8, attempt(A, "k"), Replayed(A, own=False)),
    ],
    "a key that one of unknown fate owns": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, None, attempt(B, "k"), None),
        call(5, 6, attempt(C, "k"), Conflict(B)),
    ],
    "a key that another workspace has been refused with": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 4, attempt(A, "k", ELSEWHERE), Outside()),
        call(5, 6, attempt(B, "k"), Lost(A)),
    ],
    "a history of what was asked for twice": [
        call(1, None, attempt(A, "a"), None),
        call(2, 3, history(), showing(entry(1, "won", attempt(A, "a")))),
        call(4, 5, attempt(A, "a"), Replayed(A, own=True)),
    ],
    "a history at the moment of an end": [
        call(1, 2, attempt(A, "a"), Won()),
        call(2, 3, history(), showing()),
    ],
    "a history at the moment of an invocation": [
        call(1, 2, history(), showing(entry(1, "won", attempt(A, "a")))),
        call(2, 3, attempt(A, "a"), Won()),
    ],
    "a key that the winner's response takes meanwhile": [
        call(1, 2, attempt(A, "a"), Won()),
        call(3, 9, attempt(A, "k"), Replayed(A, own=False)),
        call(4, 5, attempt(B, "k"), Conflict(A)),
    ],
    "one moment for an end and an invocation": [
        call(1, 2, attempt(B, "b"), Lost(A)),
        call(2, 3, attempt(A, "a"), Won()),
    ],
}


@pytest.mark.parametrize("calls", BAD.values(), ids=BAD)
def test_what_no_order_explains_is_refused(calls: list[Call]) -> None:
    (refusal,) = refusals(calls)
    assert refusal.instance == calls[0].instance
    assert refusal.calls
    assert set(refusal.calls) <= set(calls)


@pytest.mark.parametrize("calls", GOOD.values(), ids=GOOD)
def test_what_some_order_explains_is_accepted(calls: list[Call]) -> None:
    assert refusals(calls) == []


BEFORE = [
    entry(1, "won", attempt(A, "a")),
    entry(2, "lost", attempt(B, "b")),
    entry(3, "replayed", attempt(A, "b")),
    entry(4, "replayed", attempt(A, "c")),
]


@pytest.mark.parametrize(
    "good",
    [
        call(1, 2, attempt(A, "a"), Replayed(A, own=True)),
        call(1, 2, attempt(C, "b"), Conflict(B)),
        call(1, 2, attempt(C, "c"), Conflict(A)),
        call(1, 2, attempt(B, "b"), Lost(A)),
        call(1, 2, winner(), WinnerIs(A)),
        call(1, 2, history(), showing(*BEFORE)),
    ],
)
def test_what_was_on_record_before_explains_answers(good: Call) -> None:
    assert refusals([good], BEFORE) == []
    assert refusals([good]) != []


@pytest.mark.parametrize(
    "bad",
    [
        call(1, 2, attempt(A, "a"), Won()),
        call(1, 2, attempt(B, "b"), Won()),
        call(1, 2, attempt(C, "b"), Lost(A)),
        call(1, 2, attempt(C, "b"), Conflict(A)),
        call(1, 2, winner(), NOBODY),
        call(1, 2, history(), showing(BEFORE[0])),
    ],
)
def test_what_was_on_record_before_refuses_others(bad: Call) -> None:
    assert refusals([bad], BEFORE) != []


def test_instances_have_nothing_to_do_with_each_other() -> None:
    one = call(1, 2, attempt(A, "a"), Won())
    other = call(1, 2, attempt(B, "a"), Won(), of="another")
    assert refusals([one, other]) == []
    (refusal,) = refusals([one, other, call(3, 4, winner(), NOBODY, of="another")])
    assert refusal.instance == "another"


def test_two_that_were_told_to_have_decided_are_named_together() -> None:
    first, second = BAD["two winners"]
    (refusal,) = refusals([first, second, call(3, 4, attempt(C, "c"), Lost(A))])
    assert refusal.reason == "two calls were told that they had decided it"
    assert refusal.calls == (first, second)
