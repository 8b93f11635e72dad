"""The stored form of events: golden bytes, and the places where each can stand."""

from __future__ import annotations

import pytest

from resolution_ledger import CorruptLedger, ResponseId
from resolution_ledger.domain.events import (
    EVENT_TYPES,
    Attempt,
    AttemptConflicted,
    AttemptEvent,
    AttemptFenced,
    AttemptLost,
    AttemptReplayed,
    ResolutionAdopted,
    ResolutionWon,
)
from resolution_ledger.domain.text import IdempotencyKey
from resolution_ledger.infra.codec import decode_attempt, decode_event, encode_event
from samples import instance
from unit.stored import RESPONSE, row, state

# RESPONSE in ASCII, after d9 3b: a text of 0x3b = 59 bytes.
RESPONSE_BYTES = (
    "d93b 62616679723469 6866 66696f6f757a676370647869796e377733706536723270686c64667a356f7233346f"
    "6a7a6f61657172356569686c71356e65"
)

# MessagePack: 96 is an array of six, 01 the version; a4 begins a text of four bytes (a0 an
# empty one, a5 one of five ...); d9 3b is above. A tick is one byte from 00 to 7f and from e0
# (-32) to ff (-1), else cf and eight bytes, or d3 and eight bytes where it is negative.
GOLDEN: dict[str, tuple[type[AttemptEvent], Attempt, int, str]] = {
    "won": (
        ResolutionWon,
        Attempt("ws-1", ResponseId(RESPONSE), IdempotencyKey("key-1"), ""),
        0,
        f"96 01 {RESPONSE_BYTES} a4 77732d31 a5 6b65792d31 a0 00",
    ),
    "adopted": (
        ResolutionAdopted,
        Attempt("ws-1", ResponseId(RESPONSE), IdempotencyKey("k" * 32), ""),
        127,
        f"96 01 {RESPONSE_BYTES} a4 77732d31 d9 20 {'6b' * 32} a0 7f",
    ),
    "lost": (
        AttemptLost,
        Attempt("ws-1", ResponseId(RESPONSE), IdempotencyKey("key-1"), "tty"),
        1_700_000_000_000_000_000,
        f"96 01 {RESPONSE_BYTES} a4 77732d31 a5 6b65792d31 a3 747479 cf 17979cfe362a0000",
    ),
    "replayed": (
        AttemptReplayed,
        Attempt("w", ResponseId(RESPONSE), IdempotencyKey("\u00e9"), "tty"),
        -1,
        f"96 01 {RESPONSE_BYTES} a1 77 a2 c3a9 a3 747479 ff",
    ),
    "conflicted": (
        AttemptConflicted,
        Attempt("ws-1", ResponseId(RESPONSE), IdempotencyKey("k"), "web:7f3a"),
        2**63 - 1,
        f"96 01 {RESPONSE_BYTES} a4 77732d31 a1 6b a8 7765623a37663361 cf 7fffffffffffffff",
    ),
    "fenced": (
        AttemptFenced,
        Attempt("ws-2", ResponseId(RESPONSE), IdempotencyKey("k"), "a"),
        -(2**63),
        f"96 01 {RESPONSE_BYTES} a4 77732d32 a1 6b a1 61 d3 8000000000000000",
    ),
}

golden = pytest.mark.parametrize(
    ("tag", "kind", "attempt", "tick", "stored"),
    [(tag, *rest) for tag, rest in GOLDEN.items()],
    ids=GOLDEN,
)


def test_every_event_has_golden_bytes() -> None:
    """Under the tag that it is stored by."""
    assert {tag: kind for tag, (kind, *_) in GOLDEN.items()} == EVENT_TYPES


@golden
def test_an_event_is_stored_as_it_always_was(
    tag: str, kind: type[AttemptEvent], attempt: Attempt, tick: int, stored: str
) -> None:
    """Its tag and its bytes, whatever its class is called."""
    event = kind(attempt, tick)
    assert event.tag == tag
    assert encode_event(event) == bytes.fromhex(stored)


@golden
def test_what_was_stored_is_read_again(
    tag: str, kind: type[AttemptEvent], attempt: Attempt, tick: int, stored: str
) -> None:
    """As an event of its class."""
    assert decode_event("a.db", row(tag, bytes.fromhex(stored))) == kind(attempt, tick)


def test_an_attempt_is_read_with_its_places_in_the_log() -> None:
    """All that a row of the log says."""
    kind, attempt, tick, stored = GOLDEN["lost"]
    read = decode_attempt("a.db", (7, instance(0).text, 3, "lost", bytes.fromhex(stored)))
    assert (read.instance, read.position, read.sequence) == (instance(0), 3, 7)
    assert read.outcome == "lost"
    assert (
        Attempt(read.workspace, read.response, read.idempotency_key, read.submitted_by) == attempt
    )
    assert kind(attempt, read.tick) == kind(attempt, tick)


@pytest.mark.parametrize("position", [-1, 0, 1, 2, 2**63 - 1])
@pytest.mark.parametrize("tag", EVENT_TYPES)
def test_wins_stand_at_position_1_and_nothing_else_does(tag: str, position: int) -> None:
    """Elsewhere a win would name a second winner, and an adopted one is still a win."""
    stored = (7, instance(0).text, position, tag, state())
    if (tag in ("won", "adopted")) == (position == 1):
        assert decode_event("a.db", stored).tag == tag
        return
    with pytest.raises(CorruptLedger, match=rf"event 7: '{tag}' at position {position}"):
        decode_event("a.db", stored)
