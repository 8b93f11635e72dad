"""The audit of one stream finds the same whether it holds the stream or looks events up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from resolution_ledger import Finding
from resolution_ledger.domain.decision import InstanceState, decide
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
from resolution_ledger.infra.fingerprints import fingerprint_of, fingerprints_for
from resolution_ledger.projections import rules_audit
from resolution_ledger.projections.rules_audit import StreamAudit
from samples import instance

STREAM = instance(0).text

Placed = tuple[int, Event]

FIRST: dict[type, list[type[Event]]] = {
    Attempt: [ResolutionWon, ResolutionAdopted],
    Withdrawal: [InstanceClosed],
}
LATER: dict[type, list[type[Event]]] = {
    Attempt: [AttemptLost, AttemptReplayed, AttemptConflicted, AttemptFenced, AttemptLate],
    Withdrawal: [WithdrawalLost, WithdrawalFenced, WithdrawalLate],
}
"""What an attempt and a withdrawal can lead to, at position 1 and at the others."""


@st.composite
def streams(draw: st.DrawFn) -> list[Placed]:
    """Mostly by the rules: now and then of another kind, a retransmission, or after a gap."""
    state, placed, position = InstanceState(instance(0)), list[Placed](), 1
    for cause in draw(st.lists(strategies.causes, max_size=25)):
        kind = decide(state, cause).event
        wrong = draw(st.integers(0, 9)) == 0
        first, later = FIRST[type(cause)], LATER[type(cause)]
        if placed and (wrong or kind in first):  # none of these can be read further on
            kind = draw(st.sampled_from(later))
        elif not placed:
            kind = draw(st.sampled_from([*first, *later[: 2 * wrong]]))
        if kind is not None:
            placed.append((position, kind(cause, 0)))
            state.apply(placed[-1][1])
            position += 1 + (draw(st.integers(0, 9)) == 0)
    return placed


def findings(stream: list[Placed], long: int) -> list[Finding]:
    """What is found if no more than so many events are held."""

    def look_up(cause: Attempt | Withdrawal, before: int) -> list[Event]:
        """As a ledger does: the first event, and those with the fingerprints that matter."""
        wanted = fingerprints_for(STREAM, cause)
        return [
            event
            for n, (position, event) in enumerate(stream)
            if position < before and (n == 0 or fingerprint_of(STREAM, event) in wanted)
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules_audit, "LONG", long)
        audit = StreamAudit(STREAM, instance(0), look_up)
        return [
            finding
            for sequence, placed in enumerate(stream, start=1)
            for finding in audit.event(sequence, *placed)
        ]


@given(streams(), st.integers(1, 8))
def test_a_long_stream_is_judged_as_a_short_one(stream: list[Placed], long: int) -> None:
    """Also one in which the rules were not kept."""
    assert findings(stream, long) == findings(stream, 10_000)


@given(st.lists(strategies.causes, max_size=25), st.integers(1, 8))
def test_nothing_is_found_where_the_rules_were_kept(
    causes: list[Attempt | Withdrawal], long: int
) -> None:
    """However few events are held."""
    state, stream = InstanceState(instance(0)), list[Placed]()
    for cause in causes:
        kind = decide(state, cause).event
        if kind is not None:
            stream.append((len(stream) + 1, kind(cause, 0)))
            state.apply(stream[-1][1])
    assert findings(stream, long) == []
