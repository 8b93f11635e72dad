"""The hash chain over any events: as described, and no two alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import chains
import strategies
from chains import Event
from resolution_ledger.infra.chain import link

digests = st.sampled_from([bytes(32), b"\xff" * 32]) | strategies.digests
numbers = st.integers(-1, 2) | strategies.ticks
events: st.SearchStrategy[Event] = st.tuples(
    numbers, strategies.texts, numbers, strategies.texts, st.binary(max_size=80)
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Event, Event]:
    """Two events that are alike, all but a word, or all but where one part ends."""
    event = sequence, stream, position, tag, state = draw(events)
    word = draw(strategies.texts)
    cut = draw(st.integers(0, len(word)))
    a_number_of_letters = int.from_bytes(b"aaaaaaaa")
    return draw(
        st.sampled_from(
            [
                (event, event),
                (event, (sequence, stream, position, word, state)),
                (
                    (sequence, stream, position, word, state),
                    (sequence, stream, position, word[:cut], word[cut:].encode() + state),
                ),
                (
                    (sequence, f"{stream}a", a_number_of_letters, tag, state),
                    (sequence, stream, a_number_of_letters, f"a{tag}", state),
                ),
            ]
        )
    )


@given(digests, events)
def test_the_hash_of_an_event_is_the_one_that_the_description_gives(
    previous: bytes, event: Event
) -> None:
    """Whatever somebody else's events may be."""
    assert link(previous, *event) == chains.link(previous, event)


@given(digests, digests, pairs() | st.tuples(events, events))
def test_two_events_share_a_hash_only_if_they_are_one(
    previous: bytes, other_previous: bytes, pair: tuple[Event, Event]
) -> None:
    """In the same place of the same log."""
    one, other = pair
    same = (previous, one) == (other_previous, other)
    assert (link(previous, *one) == link(other_previous, *other)) is same
    assert (link(previous, *one) == link(previous, *other)) is (one == other)
