"""The stored form of events: golden bytes, and the places where each can stand."""

from __future__ import annotations

import pytest

from resolution_ledger import CorruptLedger, ResponseId
from resolution_ledger.domain.events import (
    EVENT_TYPES,
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
from resolution_ledger.domain.text import IdempotencyKey
from resolution_ledger.infra.codec import decode_event, decode_recorded, encode_event
from samples import instance
from unit.stored import RESPONSE, row, sound

# RESPONSE in ASCII, after d9 3b: a text of 0x3b = 59 bytes.
RESPONSE_BYTES = (
    "d93b 62616679723469 6866 66696f6f757a676370647869796e377733706536723270686c64667a356f7233346f"
    "6a7a6f61657172356569686c71356e65"
)

EXPIRED, WITHDRAWN = "a7 65787069726564", "a9 77697468647261776e"

# MessagePack: 96 is an array of six, 95 one of five, 01 the version; a4 begins a text of four
# bytes (a0 an empty one, a5 one of five ...); d9 3b is above. A tick is one byte from 00 to 7f
# and from e0 (-32) to ff (-1), else cf and eight bytes, or d3 and eight bytes where it is negative.
GOLDEN: dict[str, tuple[type[Event], Attempt | Withdrawal, int, str]] = {
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
    "late": (
        AttemptLate,
        Attempt("ws-1", ResponseId(RESPONSE), IdempotencyKey("k"), "tty"),
        -32,
        f"96 01 {RESPONSE_BYTES} a4 77732d31 a1 6b a3 747479 e0",
    ),
    "closed": (
        InstanceClosed,
        Withdrawal("ws-1", "expired", ""),
        0,
        f"95 01 {EXPIRED} a4 77732d31 a0 00",
    ),
    "withdrawal-lost": (
        WithdrawalLost,
        Withdrawal("ws-1", "withdrawn", "tty"),
        1_700_000_000_000_000_000,
        f"95 01 {WITHDRAWN} a4 77732d31 a3 747479 cf 17979cfe362a0000",
    ),
    "withdrawal-fenced": (
        WithdrawalFenced,
        Withdrawal("ws-2", "expired", "a"),
        -(2**63),
        f"95 01 {EXPIRED} a4 77732d32 a1 61 d3 8000000000000000",
    ),
    "withdrawal-late": (
        WithdrawalLate,
        Withdrawal("w", "withdrawn", "\u00e9"),
        -1,
        f"95 01 {WITHDRAWN} a1 77 a2 c3a9 ff",
    ),
}

golden = pytest.mark.parametrize(
    ("tag", "kind", "cause", "tick", "stored"),
    [(tag, *rest) for tag, rest in GOLDEN.items()],
    ids=GOLDEN,
)


def test_every_event_has_golden_bytes() -> None:
    """Under the tag that it is stored by."""
    assert {tag: kind for tag, (kind, *_) in GOLDEN.items()} == EVENT_TYPES


@golden
def test_an_event_is_stored_as_it_always_was(
    tag: str, kind: type[Event], cause: Attempt | Withdrawal, tick: int, stored: str
) -> None:
    """Its tag and its bytes, whatever its class is called."""
    event = kind(cause, tick)
    assert event.tag == tag
    assert encode_event(event) == bytes.fromhex(stored)


@golden
def test_what_was_stored_is_read_again(
    tag: str, kind: type[Event], cause: Attempt | Withdrawal, tick: int, stored: str
) -> None:
    """As an event of its class."""
    assert decode_event("a.db", row(tag, bytes.fromhex(stored))) == kind(cause, tick)


def test_an_attempt_is_read_with_its_places_in_the_log() -> None:
    """All that a row of the log says."""
    kind, attempt, tick, stored = GOLDEN["lost"]
    read = decode_recorded("a.db", (7, instance(0).text, 3, "lost", bytes.fromhex(stored)))
    assert (read.instance, read.position, read.sequence) == (instance(0), 3, 7)
    assert read.outcome == "lost"
    assert (
        Attempt(read.workspace, read.response, read.idempotency_key, read.submitted_by) == attempt
    )
    assert read.reason is None
    assert kind(attempt, read.tick) == kind(attempt, tick)


def test_a_withdrawal_is_read_with_its_places_in_the_log() -> None:
    """It has a reason where an attempt has a response and a key."""
    kind, withdrawal, tick, stored = GOLDEN["withdrawal-lost"]
    row_of_it = (7, instance(0).text, 3, "withdrawal-lost", bytes.fromhex(stored))
    read = decode_recorded("a.db", row_of_it)
    assert (read.instance, read.position, read.sequence) == (instance(0), 3, 7)
    assert read.outcome == "withdrawal-lost"
    assert Withdrawal(read.workspace, read.reason, read.submitted_by) == withdrawal
    assert (read.response, read.idempotency_key) == (None, None)
    assert kind(withdrawal, read.tick) == kind(withdrawal, tick)


@pytest.mark.parametrize("position", [-1, 0, 1, 2, 2**63 - 1])
@pytest.mark.parametrize("tag", EVENT_TYPES)
def test_wins_and_closings_stand_at_position_1_and_nothing_else_does(
    tag: str, position: int
) -> None:
    """Elsewhere they would decide a second time, and an adopted win is still a win."""
    stored = (7, instance(0).text, position, tag, sound(tag))
    if (tag in ("won", "adopted", "closed")) == (position == 1):
        assert decode_event("a.db", stored).tag == tag
        return
    with pytest.raises(CorruptLedger, match=rf"event 7: '{tag}' at position {position}"):
        decode_event("a.db", stored)
