"""Short words for calls and what they were told, for tests of those who judge histories."""

from __future__ import annotations

from samples import OTHER_WORKSPACE, WORKSPACE, instance, response
from torture.history import (
    Asked,
    AskHistory,
    AskWait,
    AskWinner,
    Attempt,
    Call,
    Entry,
    HistoryIs,
    Submission,
    Told,
    Withdrawal,
)

HERE, ELSEWHERE = WORKSPACE, OTHER_WORKSPACE
I = instance(1).text  # noqa: E741 (the instance that all of them are about)
A, B, C = (response(n).text for n in range(3))


def attempt(answer: str, key: str = "k", workspace: str = HERE) -> Attempt:
    return Attempt(workspace, answer, key)


def withdrawal(reason: str = "expired", workspace: str = HERE) -> Withdrawal:
    return Withdrawal(workspace, reason)


def winner(workspace: str = HERE) -> AskWinner:
    return AskWinner(workspace)


def wait(workspace: str = HERE) -> AskWait:
    return AskWait(workspace)


def history(workspace: str = HERE) -> AskHistory:
    return AskHistory(workspace)


def call(invoked: int, completed: int | None, asked: Asked, told: Told | None, of: str = I) -> Call:
    """A call between two moments. Without an end, or without an answer, it never came back."""
    return Call("client", 0, of, asked, invoked, completed, told)


def entry(
    sequence: int, outcome: str, submission: Submission, position: int = 0, of: str = I
) -> Entry:
    """What is on record; at the position that is its sequence, unless another one is given."""
    return Entry(of, position or sequence, sequence, outcome, submission)


def showing(*entries: Entry) -> HistoryIs:
    return HistoryIs(entries)
