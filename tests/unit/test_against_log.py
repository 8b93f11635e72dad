"""What clients were told is compared with the log, and the log with the rules and with time."""

from __future__ import annotations

import msgspec
import pytest

from histories import (
    ELSEWHERE,
    A,
    B,
    C,
    I,
    attempt,
    call,
    entry,
    history,
    showing,
    wait,
    winner,
    withdrawal,
)
from samples import instance
from torture.against_log import contradictions
from torture.history import (
    Call,
    Conflict,
    Entry,
    Failed,
    Lost,
    Nothing,
    Outside,
    Replayed,
    Unknown,
    WinnerIs,
    Won,
)

J = instance(2).text

WIN, LOSS = attempt(A, "a"), attempt(B, "b")
LOG = [entry(1, "won", WIN), entry(2, "lost", LOSS)]
CALLS = [call(1, 2, WIN, Won()), call(3, 4, LOSS, Lost(A))]

GOOD: dict[str, tuple[list[Call], list[Entry]]] = {
    "nothing": ([], []),
    "a win and a loss": (CALLS, LOG),
    "a loss that came back before the win did": (
        [call(1, 9, WIN, Won()), call(2, 3, LOSS, Lost(A))],
        LOG,
    ),
    "a winner that was killed": ([call(1, None, WIN, None), CALLS[1]], LOG),
    "an acknowledgement by a retransmission": (
        [call(1, 2, WIN, Unknown("x")), CALLS[1], call(5, 6, WIN, Replayed(A, own=True))],
        LOG,
    ),
    "a call of unknown fate that has not happened": (
        [*CALLS, call(1, 2, attempt(C, "c"), Unknown("x"))],
        LOG,
    ),
    "a call of unknown fate that happened late": (
        [*CALLS, call(1, 2, attempt(C, "b"), Unknown("x"))],
        [*LOG, entry(3, "conflicted", attempt(C, "b"))],
    ),
    "one that failed and was made again": (
        [call(1, 2, WIN, Failed("StoreBusy")), call(3, 4, WIN, Won())],
        LOG[:1],
    ),
    "reads before, beside and after": (
        [
            *CALLS,
            call(0, 0, winner(), WinnerIs(None)),
            call(1, 2, winner(), WinnerIs(None)),
            call(1, 2, winner(), WinnerIs(A)),
            call(1, 2, history(), showing()),
            call(2, 3, history(), showing(LOG[0])),
            call(5, 6, history(), showing(*LOG)),
            call(5, 6, history(ELSEWHERE), showing()),
            call(5, 6, winner(ELSEWHERE), WinnerIs(None)),
        ],
        LOG,
    ),
    "two workspaces": (
        [
            *CALLS,
            call(5, 6, attempt(A, "a", ELSEWHERE), Outside()),
            call(7, 8, history(ELSEWHERE), showing(entry(3, "fenced", attempt(A, "a", ELSEWHERE)))),
            call(7, 8, winner(ELSEWHERE), WinnerIs(None)),
        ],
        [*LOG, entry(3, "fenced", attempt(A, "a", ELSEWHERE))],
    ),
    "waiting": (
        [
            *CALLS,
            call(0, 1, wait(), Nothing()),
            call(1, 2, wait(ELSEWHERE), Nothing()),
            call(1, 2, wait(ELSEWHERE), Outside()),
            call(5, 6, wait(), WinnerIs(A)),
        ],
        LOG,
    ),
    "their own labels": (CALLS, [msgspec.structs.replace(one, label="client") for one in LOG]),
    "two instances": (
        [*CALLS, call(3, 4, WIN, Won(), of=J)],
        [*LOG, entry(3, "won", WIN, position=1, of=J)],
    ),
}

BAD: dict[str, tuple[list[Call], list[Entry]]] = {
    "an acknowledged attempt is missing": (CALLS, LOG[:1]),
    "an acknowledged win is missing": (CALLS[:1], []),
    "an entry that nobody asked for": (CALLS[:1], LOG),
    "an entry of what has failed": ([CALLS[0], call(3, 4, LOSS, Failed("StoreBusy"))], LOG),
    "an entry twice": (CALLS, [*LOG, entry(3, "lost", LOSS)]),
    "a sequence is missing": (CALLS, [LOG[0], entry(3, "lost", LOSS, position=2)]),
    "a position is missing": (CALLS, [LOG[0], entry(2, "lost", LOSS, position=3)]),
    "an outcome against the rules": (CALLS, [LOG[0], entry(2, "replayed", LOSS)]),
    "a first entry that is none": (CALLS[1:], [entry(1, "lost", LOSS)]),
    "a win beside the one on record": (
        [call(1, 2, WIN, Won()), call(1, 2, LOSS, Won())],
        [entry(1, "won", WIN), entry(2, "lost", LOSS)],
    ),
    "a Won told twice": ([*CALLS, call(1, 2, WIN, Won())], LOG),
    "another winner": ([CALLS[0], call(3, 4, LOSS, Lost(C))], LOG),
    "another owner of the key": (
        [*CALLS, call(5, 6, attempt(C, "b"), Conflict(A))],
        [*LOG, entry(3, "conflicted", attempt(C, "b"))],
    ),
    "own where it is not": ([*CALLS, call(5, 6, WIN, Replayed(A, own=False))], LOG),
    "a read of a win before the call that was told of it began": (
        [
            call(1, 2, WIN, Unknown("x")),
            call(3, 4, winner(), WinnerIs(A)),
            call(5, 6, WIN, Won()),
        ],
        LOG[:1],
    ),
    "a loss that ended before the win began": (
        [call(5, 6, WIN, Won()), call(3, 4, LOSS, Lost(A))],
        LOG,
    ),
    "an order against time, on two instances": (
        [call(5, 6, WIN, Won()), call(1, 2, WIN, Won(), of=J)],
        [LOG[0], entry(2, "won", WIN, position=1, of=J)],
    ),
    "an order against time that a chain of others shows": (
        [
            call(5, 6, WIN, Won()),
            call(1, 9, WIN, Won(), of=J),
            call(1, 2, WIN, Won(), of=instance(3).text),
        ],
        [
            LOG[0],
            entry(2, "won", WIN, position=1, of=J),
            entry(3, "won", WIN, position=1, of=instance(3).text),
        ],
    ),
    "a winner that is not shown any more": (
        [*CALLS, call(3, 4, winner(), WinnerIs(None))],
        LOG,
    ),
    "a winner that is shown too early": (
        [call(3, 4, WIN, Won()), call(1, 2, winner(), WinnerIs(A))],
        LOG[:1],
    ),
    "another winner is shown": ([*CALLS, call(3, 4, winner(), WinnerIs(B))], LOG),
    "an end of the waiting that is another one": (
        [*CALLS, call(3, 4, wait(), WinnerIs(B))],
        LOG,
    ),
    "nothing to wait for any more": ([*CALLS, call(3, 4, wait(ELSEWHERE), Nothing())], LOG),
    "an end of the waiting too early": (
        [call(3, 4, WIN, Won()), call(1, 2, wait(), WinnerIs(A))],
        LOG[:1],
    ),
    "an end of the waiting for nothing": ([call(1, 2, wait(), WinnerIs(A))], []),
    "somebody else's label": (
        CALLS,
        [LOG[0], msgspec.structs.replace(LOG[1], label="somebody else")],
    ),
    "a winner that nobody is": ([call(3, 4, winner(), WinnerIs(B))], []),
    "a winner is shown to another workspace": (
        [*CALLS, call(3, 4, winner(ELSEWHERE), WinnerIs(A))],
        LOG,
    ),
    "a history that lacks what is on record": (
        [*CALLS, call(5, 6, history(), showing(LOG[0]))],
        LOG,
    ),
    "a history that shows it too early": ([*CALLS, call(1, 2, history(), showing(*LOG))], LOG),
    "a history that skips": ([*CALLS, call(5, 6, history(), showing(LOG[1]))], LOG),
    "a history of another outcome": (
        [*CALLS, call(5, 6, history(), showing(LOG[0], entry(2, "late", LOSS)))],
        LOG,
    ),
    "a read that sees two different pasts": (
        [
            call(1, 9, WIN, Won()),
            call(3, 4, winner(), WinnerIs(A)),
            call(5, 6, winner(), WinnerIs(None)),
        ],
        LOG[:1],
    ),
    "no answer to what was asked": ([*CALLS, call(5, 6, winner(), Won())], LOG),
}


@pytest.mark.parametrize(("calls", "log"), GOOD.values(), ids=GOOD)
def test_what_the_log_explains_is_accepted(calls: list[Call], log: list[Entry]) -> None:
    assert contradictions(calls, log) == []


@pytest.mark.parametrize(("calls", "log"), BAD.values(), ids=BAD)
def test_what_contradicts_the_log_is_refused(calls: list[Call], log: list[Entry]) -> None:
    assert contradictions(calls, log) != []


def test_what_was_there_before_needs_nobody_to_have_asked_for_it() -> None:
    late = [call(1, 2, attempt(B, "b"), Lost(A)), call(3, 4, withdrawal(), Lost(A))]
    log = [*LOG, entry(3, "withdrawal-lost", withdrawal())]
    assert contradictions(late, log, before=2) == []
    assert contradictions(late, log) != []


def test_what_was_there_before_cannot_be_won_again_or_not_be_seen() -> None:
    assert contradictions([call(1, 2, WIN, Replayed(A, own=True))], LOG, before=2) == []
    assert contradictions([call(1, 2, WIN, Won())], LOG, before=2) != []
    assert contradictions([call(1, 2, winner(), WinnerIs(None))], LOG, before=2) != []
    assert contradictions([call(1, 2, history(), showing(LOG[0]))], LOG, before=2) != []


def test_the_instance_is_named() -> None:
    calls = [*CALLS, call(3, 4, WIN, Won(), of=J)]
    (refusal,) = contradictions(calls, LOG)
    assert refusal.instance == J
    assert refusal.calls == (calls[2],)
    (refusal,) = contradictions(CALLS[:1], LOG)
    assert refusal.instance == I
