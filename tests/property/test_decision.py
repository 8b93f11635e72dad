"""The decision over whole histories: what holds whoever comes in whichever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

from hypothesis import given
from hypothesis import strategies as st

import strategies
from resolution_ledger import Closed, OutsideWorkspace, Replayed, Withdrawn, Won
from resolution_ledger.domain.decision import InstanceState, decide, fold, redecide
from resolution_ledger.domain.events import (
    Attempt,
    AttemptFenced,
    AttemptLate,
    AttemptLost,
    AttemptReplayed,
    Event,
    InstanceClosed,
    ResolutionAdopted,
    ResolutionWon,
    Submission,
    Win,
    Withdrawal,
    WithdrawalEvent,
)
from resolution_ledger.infra.fingerprints import fingerprint_of, fingerprints_for
from samples import instance

INSTANCE = instance(0)

Cause = Attempt | Withdrawal

histories = st.lists(strategies.causes, max_size=40)
resolved = st.builds(lambda first, later: [first, *later], strategies.attempts, histories)
closed = st.builds(lambda first, later: [first, *later], strategies.withdrawals, histories)
wins = st.sampled_from([ResolutionWon, ResolutionAdopted])


def recorded(causes: Iterable[Cause], win: type[Win] = ResolutionWon) -> list[Event]:
    """The events that these, one after the other, leave on record; a win is of this kind."""
    state, events = InstanceState(INSTANCE), list[Event]()
    for tick, cause in enumerate(causes):
        event_type = decide(state, cause).event
        if event_type is ResolutionWon:
            event_type = win
        if event_type is not None:
            events.append(event_type(cause, tick))
            state.apply(events[-1])
    return events


def decided(events: Iterable[Event], cause: Cause) -> tuple[str, object]:
    """The decision on these events, in a form that can be compared (errors cannot)."""
    decision = decide(fold(INSTANCE, events), cause)
    return repr(decision.answer), decision.event


@given(histories, wins)
def test_whatever_is_on_record_is_decided_again_as_it_was(
    causes: list[Cause], win: type[Win]
) -> None:
    """From the events before it alone."""
    events = recorded(causes, win)
    for n, event in enumerate(events):
        assert redecide(fold(INSTANCE, events[:n]), event) is type(event)
        if win is ResolutionWon:
            assert decide(fold(INSTANCE, events[:n]), event.cause).event is type(event)


@given(histories, wins)
def test_nothing_that_is_on_record_belongs_there_a_second_time(
    causes: list[Cause], win: type[Win]
) -> None:
    """Neither at the end nor anywhere after its place."""
    events = recorded(causes, win)
    for n in range(len(events)):
        state = fold(INSTANCE, events[: n + 1])
        assert [redecide(state, event) for event in events[: n + 1]] == [None] * (n + 1)


@given(histories.filter(bool), wins, strategies.attempts)
def test_no_adopted_win_belongs_after_the_first_event(
    causes: list[Cause], win: type[Win], attempt: Attempt
) -> None:
    """What the rules say of its attempt belongs there, if anything does."""
    events = recorded(causes, win)
    state = fold(INSTANCE, events)
    found = redecide(state, ResolutionAdopted(attempt, 0))
    assert found is decide(state, attempt).event
    assert found not in {ResolutionAdopted, ResolutionWon}


@given(resolved, strategies.causes)
def test_after_an_adopted_win_all_get_the_answer_that_they_get_after_a_won_one(
    causes: list[Cause], cause: Cause
) -> None:
    """And leave the same on record."""
    won, adopted = recorded(causes), recorded(causes, ResolutionAdopted)
    assert adopted == [ResolutionAdopted(won[0].cause, won[0].tick), *won[1:]]
    assert decided(adopted, cause) == decided(won, cause)


@given(histories.filter(bool))
def test_exactly_one_wins_or_closes_and_it_is_the_first(causes: list[Cause]) -> None:
    """Nothing that comes later changes it."""
    events = recorded(causes)
    assert [isinstance(event, ResolutionWon | InstanceClosed) for event in events] == [
        True,
        *[False] * (len(events) - 1),
    ]
    assert events[0].cause == causes[0]
    assert isinstance(events[0], InstanceClosed) is isinstance(causes[0], Withdrawal)


@given(closed)
def test_on_a_closed_instance_every_answer_is_late_or_fenced_and_owns_no_key(
    causes: list[Cause],
) -> None:
    """None has won, lost, replayed or come into conflict."""
    first, *later = recorded(causes)
    answers = [event for event in later if isinstance(event.cause, Attempt)]
    for event in answers:
        same = event.cause.workspace == first.cause.workspace
        assert type(event) is (AttemptLate if same else AttemptFenced)
    assert fold(INSTANCE, [first, *later]).key_owners == {}


@given(resolved)
def test_a_withdrawal_after_a_win_changes_nothing_for_the_answers(causes: list[Cause]) -> None:
    """They get what they would have got without it, and leave the same on record."""
    attempts = [cause for cause in causes if isinstance(cause, Attempt)]
    without = [(event.tag, event.cause) for event in recorded(attempts)]
    events = recorded(causes)
    assert without == [(e.tag, e.cause) for e in events if isinstance(e.cause, Attempt)]


@given(histories.filter(bool), wins, strategies.causes, st.randoms(use_true_random=False))
def test_the_events_found_by_fingerprint_decide_as_the_whole_stream_does(
    causes: list[Cause], win: type[Win], cause: Cause, random: Random
) -> None:
    """And so does any selection that holds these and keeps the order."""
    first, *later = recorded(causes, win)
    found = fingerprints_for(INSTANCE.text, cause)
    needed = [fingerprint_of(INSTANCE.text, event) in found for event in later]
    on_all = decided([first, *later], cause)
    assert decided([first, *_selected(later, needed)], cause) == on_all
    more = [must or random.random() < 0.5 for must in needed]
    assert decided([first, *_selected(later, more)], cause) == on_all


def _selected(events: list[Event], chosen: list[bool]) -> list[Event]:
    return [event for event, wanted in zip(events, chosen, strict=True) if wanted]


@given(histories.filter(bool), strategies.causes)
def test_a_fingerprint_finds_a_handful_of_events_at_most(causes: list[Cause], cause: Cause) -> None:
    """Two of a key, one of a submission: what an attempt or withdrawal costs does not grow."""
    later = recorded(causes)[1:]
    uses = [event for event in later if isinstance(event, AttemptLost | AttemptReplayed)]
    others = [event for event in later if event not in uses]
    assert all(n <= 2 for n in Counter(fingerprint_of(INSTANCE.text, e) for e in uses).values())
    assert all(n == 1 for n in Counter(fingerprint_of(INSTANCE.text, e) for e in others).values())
    wanted = fingerprints_for(INSTANCE.text, cause)
    found = [event for event in later if fingerprint_of(INSTANCE.text, event) in wanted]
    assert len(found) <= (3 if isinstance(cause, Attempt) else 1)


@given(histories)
def test_the_same_submission_gets_the_same_answer_ever_after(causes: list[Cause]) -> None:
    """Except that Won becomes Replayed, Withdrawn Closed; and it leaves nothing more on record."""
    state = InstanceState(INSTANCE)
    told: dict[Submission, tuple[Cause, str]] = {}
    for cause in causes:
        decision = decide(state, cause)
        if decision.event is not None:
            state.apply(decision.event(cause, 0))
        answer = decision.answer
        if answer == Won():
            answer = Replayed(cause.response, own=True)
        if answer == Withdrawn():
            answer = Closed(cause.reason)
        told.setdefault(cause.submission, (cause, repr(answer)))
        for earlier, expected in told.values():
            again = decide(state, earlier)
            assert (repr(again.answer), again.event) == (expected, None)


@given(histories, strategies.causes, strategies.labels)
def test_a_label_makes_no_difference(causes: list[Cause], cause: Cause, label: str) -> None:
    """To anybody's answer."""
    events = recorded(causes)
    relabelled = type(cause)(*(getattr(cause, f) for f in cause.__struct_fields__[:-1]), label)
    assert decided(events, relabelled) == decided(events, cause)


@given(histories.filter(bool), strategies.causes)
def test_outside_the_workspace_nothing_is_told_of_what_was_first(
    causes: list[Cause], cause: Cause
) -> None:
    """Neither who or what it is nor where."""
    events = recorded(causes)
    first = events[0].cause
    answer = decide(fold(INSTANCE, events), cause).answer
    assert isinstance(answer, OutsideWorkspace) is (cause.workspace != first.workspace)
    if isinstance(answer, OutsideWorkspace):
        told = f"{answer} {answer!r} {answer.args} {vars(answer)}"
        what = first.response.text if isinstance(first, Attempt) else first.reason
        assert what not in told
        assert first.workspace not in told
        assert set(vars(answer)) == {"instance", "workspace"}


@given(histories, strategies.causes)
def test_an_attempt_leads_to_events_of_attempts_and_a_withdrawal_to_its_own(
    causes: list[Cause], cause: Cause
) -> None:
    """The stored form of the one could not hold the other."""
    event = decide(fold(INSTANCE, recorded(causes)), cause).event
    if event is not None:
        assert issubclass(event, WithdrawalEvent) is isinstance(cause, Withdrawal)
