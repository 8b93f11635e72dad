"""The stored form of events: refusal of everything that we did not write."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from resolution_ledger import CorruptLedger, UnknownEvent
from resolution_ledger.infra.codec import decode_attempt, decode_event
from samples import instance
from unit.stored import RESPONSE, row, state, text

SOUND = state()

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
