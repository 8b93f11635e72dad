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
    AttemptEvent,
    AttemptFenced,
    AttemptLost,
    AttemptReplayed,
    ResolutionAdopted,
    ResolutionWon,
)
from resolution_ledger.infra.fingerprints import fingerprint_of, fingerprints_for
from resolution_ledger.projections import rules_audit
from resolution_ledger.projections.rules_audit import StreamAudit
from samples import instance

STREAM = instance(0).text

Placed = tuple[int, AttemptEvent]

LATER = [AttemptLost, AttemptReplayed, AttemptConflicted, AttemptFenced]


@st.composite
def streams(draw: st.DrawFn) -> list[Placed]:
    """Mostly by the rules: now and then of another kind, a retransmission, or after a gap."""
    state, placed, position = InstanceState(instance(0)), list[Placed](), 1
    for attempt in draw(st.lists(strategies.attempts, max_size=25)):
        kind = decide(state, attempt).event
        wrong = draw(st.integers(0, 9)) == 0
        if placed and (wrong or kind is ResolutionWon):  # no win can be read further on
            kind = draw(st.sampled_from(LATER))
        elif not placed:
            kind = draw(st.sampled_from([ResolutionWon, ResolutionAdopted, *LATER[: 2 * wrong]]))
        if kind is not None:
            placed.append((position, kind(attempt, 0)))
            state.apply(placed[-1][1])
            position += 1 + (draw(st.integers(0, 9)) == 0)
    return placed


def findings(stream: list[Placed], long: int) -> list[Finding]:
    """What is found if no more than so many events are held."""

    def look_up(attempt: Attempt, before: int) -> list[AttemptEvent]:
        """As a ledger does: the first event, and those with the attempt's fingerprints."""
        wanted = fingerprints_for(STREAM, attempt)
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


@given(st.lists(strategies.attempts, max_size=25), st.integers(1, 8))
def test_nothing_is_found_where_the_rules_were_kept(attempts: list[Attempt], long: int) -> None:
    """However few events are held."""
    state, stream = InstanceState(instance(0)), list[Placed]()
    for attempt in attempts:
        kind = decide(state, attempt).event
        if kind is not None:
            stream.append((len(stream) + 1, kind(attempt, 0)))
            state.apply(stream[-1][1])
    assert findings(stream, long) == []
