"""The stored form of events: whole there and back, and nothing else is taken for one."""

from __future__ import annotations

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

import strategies
from resolution_ledger import CorruptLedger
from resolution_ledger.domain.events import EVENT_TYPES, Attempt, Event
from resolution_ledger.domain.records import FIRST
from resolution_ledger.infra.codec import decode_event, decode_recorded, encode_event
from samples import instance

tags = st.sampled_from([*EVENT_TYPES, "withdrawn"])

# Half sound, so that more than the first byte is read.
msgpack_values = st.recursive(
    st.sampled_from([0, 1, 2, "", "k", "a\0", b"k"]) | strategies.ticks | strategies.id_texts,
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
msgpack = st.one_of(
    msgpack_values,
    st.tuples(
        st.sampled_from([1, 1, 1, 2]),
        st.sampled_from(["ws", ""]) | msgpack_values,
        strategies.id_texts | msgpack_values,
        st.sampled_from(["k", "", "\0"]) | msgpack_values,
        st.just("") | msgpack_values,
        st.integers(-(2**63), 2**64 - 1) | msgpack_values,
    ),
    st.tuples(
        st.sampled_from([1, 1, 1, 2]),
        strategies.reasons | st.just("superseded") | msgpack_values,
        st.sampled_from(["ws", ""]) | msgpack_values,
        st.just("") | msgpack_values,
        st.integers(-(2**63), 2**64 - 1) | msgpack_values,
    ),
).map(msgspec.msgpack.encode)


def place(tag: str, *, later: int = 2) -> int:
    """A position where an event of this tag can stand."""
    return 1 if tag in FIRST else later


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """The bytes of an event, with a stretch of them replaced."""
    sound = encode_event(draw(strategies.events))
    start = draw(st.integers(0, len(sound)))
    end = draw(st.integers(start, min(len(sound), start + 8)))
    return sound[:start] + draw(st.binary(max_size=8)) + sound[end:]


@given(strategies.events)
def test_an_event_is_read_as_it_was_stored(event: Event) -> None:
    """And stored as it was read."""
    stored = encode_event(event)
    read = decode_event("a.db", (7, instance(0).text, place(event.tag), event.tag, stored))
    assert read == event
    assert type(read) is type(event)
    assert encode_event(read) == stored


@given(strategies.events, st.integers(1, 2**63 - 1), st.integers(2, 2**63 - 1))
def test_an_attempt_or_withdrawal_is_read_as_it_was_stored(
    event: Event, sequence: int, later: int
) -> None:
    """With its places in the log; each with what it alone has."""
    position = place(event.tag, later=later)
    stored = encode_event(event)
    read = decode_recorded("a.db", (sequence, instance(0).text, position, event.tag, stored))
    assert (read.instance, read.sequence, read.position) == (instance(0), sequence, position)
    assert (read.outcome, read.tick) == (event.tag, event.tick)
    assert (read.workspace, read.submitted_by) == (event.cause.workspace, event.cause.submitted_by)
    if isinstance(event.cause, Attempt):
        assert (read.workspace, read.response, read.idempotency_key) == event.cause.submission
        assert read.reason is None
    else:
        assert (read.workspace, read.reason) == event.cause.submission
        assert (read.response, read.idempotency_key) == (None, None)


@given(strategies.events, strategies.events)
def test_two_events_of_one_tag_share_no_bytes(one: Event, other: Event) -> None:
    """Nothing that an event says is left out of them."""
    same = (one.cause, one.tick) == (other.cause, other.tick)
    assert (encode_event(one) == encode_event(other)) is same


@given(tags, st.binary() | msgpack | damaged())
@example("won", b"\x91" * 2000)
@example("withdrawn", b"\x81\x80\xc0")
@example("won", b"\xdd\xff\xff\xff\xff")
@example("won", b"\x96\x01\xc7\x0c\xff" + b"\xff" * 12)
@example("closed", b"\x95\x01\xc7\x0c\xff" + b"\xff" * 12)
def test_bytes_are_those_of_an_event_or_damage(tag: str, stored: bytes) -> None:
    """Never another error, and never an event that would be stored differently."""
    try:
        event = decode_event("a.db", (7, instance(0).text, place(tag), tag, stored))
    except CorruptLedger as damage:  # UnknownEvent is one
        sequence = damage.sequence
    else:
        sequence = 7
        assert (event.tag, encode_event(event)) == (tag, stored)
    assert sequence == 7
