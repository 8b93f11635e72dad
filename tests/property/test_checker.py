"""The checker agrees with a search through all orders; honest histories, with their log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from histories import (
    ELSEWHERE,
    HERE,
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
from property.brute_force import answer_of, some_order_explains
from resolution_ledger.domain.decision import InstanceState
from samples import instance
from torture.against_log import contradictions
from torture.checker import refusals
from torture.history import (
    Asked,
    AskHistory,
    AskWait,
    AskWinner,
    Call,
    Closed,
    Conflict,
    Entry,
    Failed,
    Lost,
    Nothing,
    Outside,
    Replayed,
    Told,
    Unknown,
    WinnerIs,
    Withdrawal,
    Withdrawn,
    Won,
)

RESPONSES = st.sampled_from([A, B, C])
WORKSPACES = st.sampled_from([HERE, HERE, HERE, ELSEWHERE])
REASONS = st.sampled_from(["expired", "withdrawn"])
ASKED = st.one_of(
    st.builds(attempt, RESPONSES, st.sampled_from("ab"), WORKSPACES),
    st.builds(attempt, RESPONSES, st.sampled_from("ab"), WORKSPACES),
    st.builds(withdrawal, REASONS, WORKSPACES),
    st.builds(winner, WORKSPACES),
    st.builds(wait, WORKSPACES),
)
ASKED_OR_READ = st.one_of(ASKED, ASKED, st.builds(history, WORKSPACES))
TOLD = st.one_of(
    st.builds(Won),
    st.builds(Lost, RESPONSES),
    st.builds(Replayed, RESPONSES, st.booleans()),
    st.builds(Conflict, RESPONSES),
    st.builds(Outside),
    st.builds(Withdrawn),
    st.builds(Closed, REASONS),
    st.builds(WinnerIs, st.none() | RESPONSES),
    st.builds(Nothing),
    st.none(),
    st.builds(Unknown, st.just("StoreUnavailable")),
    st.builds(Failed, st.just("StoreBusy")),
)
FATES = st.sampled_from(["told"] * 6 + ["killed", "unknown", "never", "failed"])


@st.composite
def begun(
    draw: st.DrawFn, skipped: int = 4, kinds: st.SearchStrategy[Asked] = ASKED_OR_READ
) -> tuple[list[Call], list[Entry], int]:
    """What clients are told by a ledger that keeps to the rules, its log at the end, and how much
    of that was there when the history began: after some calls, which are not told of.
    """
    state = InstanceState(instance(1))
    calls: list[Call] = []
    log: list[Entry] = []
    skipped, before = draw(st.integers(0, skipped)), 0
    for moment in range(skipped + draw(st.integers(1, 6))):
        if moment == skipped:
            calls, before = [], len(log)
        asked, fate = draw(kinds), draw(FATES)
        begin, end = 10 * moment - draw(st.integers(0, 25)), 10 * moment + draw(st.integers(0, 25))
        if fate in ("never", "failed"):
            answer: Told = Unknown("x") if fate == "never" else Failed("StoreBusy")
        elif isinstance(asked, AskHistory):
            answer = showing(*(e for e in log if e.submission.workspace == asked.workspace))
        else:
            on_record = len(state.on_record)
            answer = answer_of(state, call(0, 1, asked, None))
            if len(state.on_record) > on_record:
                log.append(entry(len(log) + 1, _outcome(asked, answer), asked))
        if fate == "unknown":
            calls.append(call(begin, draw(st.integers(begin, end)), asked, Unknown("x")))
        elif fate == "killed":
            calls.append(call(begin, None, asked, None))
        else:
            calls.append(call(begin, end, asked, answer))
    return draw(st.permutations(calls)), log, before


@st.composite
def honest(draw: st.DrawFn) -> tuple[list[Call], list[Entry]]:
    """From the beginning, with no reads but of the winner."""
    calls, log, _ = draw(begun(0, ASKED))
    return calls, log


def _outcome(asked: Asked, answer: Told) -> str:
    names: dict[type[Any], str] = {
        Won: "won",
        Withdrawn: "closed",
        Lost: "lost",
        Replayed: "replayed",
        Conflict: "conflicted",
        Outside: "fenced",
        Closed: "late",
    }
    prefix = "withdrawal-" if isinstance(asked, Withdrawal) else ""
    name = names[type(answer)]
    return name if name == "closed" else prefix + name


@st.composite
def doubtful(draw: st.DrawFn) -> list[Call]:
    """An honest history, of which something may have been altered."""
    calls, _ = draw(honest())
    for _ in range(draw(st.integers(0, 2))):
        n = draw(st.integers(0, len(calls) - 1))
        one = calls[n]
        changes: list[Callable[[], dict[str, Any]]] = [
            lambda: {"told": draw(TOLD)},
            lambda: {"invoked": draw(st.integers(-30, 60))},
            lambda: {"completed": draw(st.integers(-30, 60))},
            lambda: {"asked": draw(ASKED)},
        ]
        altered = msgspec.structs.replace(one, **changes[draw(st.integers(0, 3))]())
        end = altered.completed
        if end is not None and end < altered.invoked:
            altered = msgspec.structs.replace(altered, invoked=end)
        calls = [*calls[:n], altered, *calls[n + 1 :]]
    return calls


@settings(max_examples=2_000)
@given(doubtful())
def test_the_checker_says_what_a_search_through_all_orders_says(calls: list[Call]) -> None:
    assert (refusals(calls) == []) == some_order_explains(calls, instance(1))


@given(begun())
def test_an_honest_history_is_accepted_and_agrees_with_its_log(
    told: tuple[list[Call], list[Entry], int],
) -> None:
    calls, log, before = told
    assert refusals(calls, log[:before]) == []
    assert contradictions(calls, log, before) == []


@given(honest(), st.data())
def test_a_log_that_lacks_what_was_acknowledged_is_refused(
    told: tuple[list[Call], list[Entry]], data: st.DataObject
) -> None:
    calls, log = told
    answered = {one.asked for one in calls if not isinstance(one.told, Unknown | Failed | None)}
    acknowledged = [n for n, one in enumerate(log) if one.submission in answered]
    if not acknowledged:
        return
    n = data.draw(st.sampled_from(acknowledged))
    fewer = [one for one in log if one is not log[n]]
    renumbered = [
        entry(sequence, one.outcome, one.submission) for sequence, one in enumerate(fewer, 1)
    ]
    assert contradictions(calls, renumbered) != []


@given(honest(), ASKED.filter(lambda asked: not isinstance(asked, AskWinner | AskWait)))
def test_a_log_that_has_more_than_was_asked_for_is_refused(
    told: tuple[list[Call], list[Entry]], asked: Any
) -> None:
    calls, log = told
    if asked in {one.asked for one in calls if not isinstance(one.told, Failed)}:
        return
    state = InstanceState(instance(1))
    for one in log:
        answer_of(state, call(0, 1, one.submission, None))
    answer = answer_of(state, call(0, 1, asked, None))
    more = entry(len(log) + 1, _outcome(asked, answer), asked)
    (refusal,) = contradictions(calls, [*log, more])
    assert refusal.instance == I
