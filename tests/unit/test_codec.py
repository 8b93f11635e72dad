"""The stored form of events: golden bytes, and refusal of everything that we did not write."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from resolution_ledger import CorruptLedger, ResponseId, UnknownEvent
from resolution_ledger.domain.events import (
    EVENT_TYPES,
    Attempt,
    AttemptConflicted,
    AttemptEvent,
    AttemptFenced,
    AttemptLost,
    AttemptReplayed,
    ResolutionWon,
)
from resolution_ledger.domain.text import IdempotencyKey
from resolution_ledger.infra.codec import decode_attempt, decode_event, encode_event
from resolution_ledger.infra.database import StoredRow
from samples import instance

RESPONSE = "bafyr4ihffioouzgcpdxiyn7w3pe6r2phldfz5or34ojzoaeqr5eihlq5ne"

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
SOUND = bytes.fromhex(GOLDEN["lost"][3])


def row(tag: str, stored: Any) -> StoredRow:
    """A row of the log where an event of this tag can stand."""
    return 7, instance(0).text, 1 if tag == "won" else 3, tag, stored


def text(value: str) -> bytes:
    """A MessagePack text of up to 255 bytes, as short as can be."""
    content = value.encode()
    size = len(content)
    return (bytes([0xA0 | size]) if size < 32 else bytes([0xD9, size])) + content


SOUND_FIELDS = {
    "head": b"\x96\x01",
    "response": text(RESPONSE),
    "workspace": text("ws-1"),
    "key": text("key-1"),
    "by": text("tty"),
    "tick": b"\x05",
}


def state(**fields: bytes) -> bytes:
    """The bytes of a sound event, except for ``fields``."""
    assert fields.keys() <= SOUND_FIELDS.keys()
    return b"".join((SOUND_FIELDS | fields).values())


DAMAGED: dict[str, Any] = {
    "nothing": b"",
    "not MessagePack": b"\xc1",
    "JSON": b'[1, "ws-1"]',
    "nil": b"\xc0",
    "a map": b"\x80",
    "an empty array": b"\x90",
    "text instead of bytes": SOUND.decode("latin-1"),
    "None instead of bytes": None,
    "a number instead of bytes": 5,
    "a byte more": SOUND + b"\0",
    "twice": SOUND + SOUND,
    "a field less": state(head=b"\x95\x01", tick=b""),
    "a field more": state(head=b"\x97\x01", tick=b"\x05\x05"),
    "a long head": state(head=b"\xdc\x00\x06\x01"),
    "a longer head": state(head=b"\xdd\x00\x00\x00\x06\x01"),
    "a long version": state(head=b"\x96\xcc\x01"),
    "a signed version": state(head=b"\x96\xd0\x01"),
    "True as version": state(head=b"\x96\xc3"),
    "1.0 as version": state(head=b"\x96\xcb" + struct.pack(">d", 1.0)),
    "nil as version": state(head=b"\x96\xc0"),
    "a workspace of long form": state(workspace=b"\xd9\x04ws-1"),
    "a response of long form": state(response=b"\xda\x00\x3b" + RESPONSE.encode()),
    "a key of long form": state(key=b"\xda\x00\x05key-1"),
    "a key as bytes": state(key=b"\xc4\x05key-1"),
    "a label of long form": state(by=b"\xdb\x00\x00\x00\x03tty"),
    "nil as label": state(by=b"\xc0"),
    "a number as workspace": state(workspace=b"\x01"),
    "an array as response": state(response=b"\x91" + text(RESPONSE)),
    "an empty workspace": state(workspace=text("")),
    "an empty key": state(key=text("")),
    "NUL in the workspace": state(workspace=text("a\0")),
    "NUL in the key": state(key=text("a\0")),
    "NUL in the label": state(by=text("\0")),
    "a key of 513 bytes": state(key=b"\xda\x02\x01" + b"k" * 513),
    "a label of 513 bytes": state(by=b"\xda\x02\x01" + b"k" * 513),
    "text that is not UTF-8": state(workspace=b"\xa1\xff"),
    "text with a surrogate": state(workspace=b"\xa3\xed\xa0\x80"),
    "an upper-case response": state(response=text(RESPONSE.upper())),
    "a response with white space": state(response=text(RESPONSE + "\n")),
    "a response of another codec": state(response=text(RESPONSE.replace("fyr", "fkr", 1))),
    "an empty response": state(response=text("")),
    "a tick of long form": state(tick=b"\xcc\x05"),
    "a tick of signed form": state(tick=b"\xd3" + struct.pack(">q", 2**62)),
    "a tick beyond 64 bits": state(tick=b"\xcf" + struct.pack(">Q", 2**63)),
    "the greatest tick beyond 64 bits": state(tick=b"\xcf" + b"\xff" * 8),
    "a float as tick": state(tick=b"\xcb" + struct.pack(">d", 5.0)),
    "True as tick": state(tick=b"\xc3"),
    "text as tick": state(tick=text("5")),
    "nil as tick": state(tick=b"\xc0"),
    "nested without end": b"\x96\x01" + b"\x91" * 100_000 + b"\xc0",
    "nested for ever": b"\x91" * 100_000,
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


def test_the_sound_bytes_below_are_sound() -> None:
    """Or the damage would not be what is refused."""
    assert decode_event("a.db", row("lost", state())).tick == 5


@pytest.mark.parametrize("damaged", DAMAGED.values(), ids=DAMAGED)
def test_bytes_that_we_did_not_write_are_damage(damaged: Any) -> None:
    """The error says where, and no event is made up."""
    with pytest.raises(CorruptLedger) as damage:
        decode_event("a.db", row("lost", damaged))
    assert type(damage.value) is CorruptLedger
    assert damage.value.sequence == 7
    assert damage.value.target == "a.db"
    assert str(damage.value).startswith("a.db: event 7: ")
    assert len(str(damage.value)) < 300


@pytest.mark.parametrize("length", range(len(SOUND)))
def test_truncated_bytes_are_damage(length: int) -> None:
    """Wherever they were cut."""
    with pytest.raises(CorruptLedger) as damage:
        decode_event("a.db", row("lost", SOUND[:length]))
    assert type(damage.value) is CorruptLedger
    assert damage.value.sequence == 7


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(state(head=b"\x96\x02"), id="of the same layout"),
        pytest.param(b"\x92\x02\xc0", id="of another layout"),
        pytest.param(b"\x91\x02", id="of nothing else"),
        pytest.param(state(head=b"\x96\x02", response=text("x")), id="of another kind of ids"),
    ],
)
def test_an_unknown_version_is_named(stored: bytes) -> None:
    """Together with the tag and the sequence: an upgrade may help."""
    with pytest.raises(UnknownEvent) as unknown:
        decode_event("a.db", row("lost", stored))
    error = unknown.value
    assert (error.sequence, error.tag, error.version) == (7, "lost", 2)
    assert "event 7: unknown event: tag 'lost', version 2" in str(error)


@pytest.mark.parametrize("version", [0, 127, -1])
def test_any_version_but_ours_is_unknown(version: int) -> None:
    """The ones before ours as well."""
    with pytest.raises(UnknownEvent) as unknown:
        decode_event("a.db", row("won", state(head=b"\x96" + struct.pack("b", version))))
    assert unknown.value.version == version


@pytest.mark.parametrize("tag", ["withdrawn", "Won", "won ", "", "ResolutionWon"])
def test_an_unknown_tag_is_named(tag: str) -> None:
    """Together with the version and the sequence."""
    with pytest.raises(UnknownEvent) as unknown:
        decode_event("a.db", row(tag, SOUND))
    error = unknown.value
    assert (error.sequence, error.tag, error.version) == (7, tag, 1)
    assert f"event 7: unknown event: tag {tag!r}, version 1" in str(error)


@pytest.mark.parametrize(
    "stored",
    [b"", b"\xc1", b"\x90", b"\x80", b"\xc0", b"\xa1\xff", None, "text", b"\x91" * 100_000],
    ids=["nothing", "reserved", "no version", "map", "nil", "no UTF-8", "None", "text", "nested"],
)
def test_an_unknown_tag_is_named_whatever_the_bytes_are(stored: Any) -> None:
    """There is no version to be told then."""
    with pytest.raises(UnknownEvent) as unknown:
        decode_event("a.db", row("withdrawn", stored))
    error = unknown.value
    assert (error.sequence, error.tag, error.version) == (7, "withdrawn", None)


@pytest.mark.parametrize(
    "stream",
    ["", "x", instance(0).text.upper(), instance(0).text + "\n", None, instance(0).text.encode()],
    ids=["empty", "no id", "upper case", "newline", "None", "bytes"],
)
def test_a_stream_that_is_no_instance_is_damage(stream: Any) -> None:
    """Even where the event is sound."""
    with pytest.raises(CorruptLedger) as damage:
        decode_attempt("a.db", (7, stream, 1, "won", SOUND))
    assert damage.value.sequence == 7
