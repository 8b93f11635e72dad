"""The stored form of events: refusal of everything that we did not write."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from resolution_ledger import CorruptLedger, UnknownEvent
from resolution_ledger.domain.events import EVENT_TYPES, WithdrawalEvent
from resolution_ledger.infra.codec import decode_event, decode_recorded
from samples import instance
from unit.stored import RESPONSE, row, sound, state, text, withdrawal_state

SOUND = state()
SOUND_WITHDRAWAL = withdrawal_state()

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


DAMAGED_WITHDRAWALS: dict[str, Any] = {
    "nothing": b"",
    "a map": b"\x80",
    "None instead of bytes": None,
    "a byte more": SOUND_WITHDRAWAL + b"\0",
    "a field less": withdrawal_state(head=b"\x94\x01", tick=b""),
    "a field more": withdrawal_state(head=b"\x96\x01", tick=b"\x05\x05"),
    "a long head": withdrawal_state(head=b"\xdc\x00\x05\x01"),
    "a long version": withdrawal_state(head=b"\x95\xcc\x01"),
    "True as version": withdrawal_state(head=b"\x95\xc3"),
    "an unknown reason": withdrawal_state(reason=text("superseded")),
    "an outcome as reason": withdrawal_state(reason=text("closed")),
    "an upper-case reason": withdrawal_state(reason=text("Expired")),
    "a reason with white space": withdrawal_state(reason=text("expired ")),
    "an empty reason": withdrawal_state(reason=text("")),
    "a reason of long form": withdrawal_state(reason=b"\xd9\x07expired"),
    "a reason as bytes": withdrawal_state(reason=b"\xc4\x07expired"),
    "a response as reason": withdrawal_state(reason=text(RESPONSE)),
    "an array as reason": withdrawal_state(reason=b"\x91" + text("expired")),
    "nil as reason": withdrawal_state(reason=b"\xc0"),
    "a number as reason": withdrawal_state(reason=b"\x01"),
    "a workspace of long form": withdrawal_state(workspace=b"\xd9\x04ws-1"),
    "an empty workspace": withdrawal_state(workspace=text("")),
    "NUL in the workspace": withdrawal_state(workspace=text("a\0")),
    "NUL in the label": withdrawal_state(by=text("\0")),
    "nil as label": withdrawal_state(by=b"\xc0"),
    "a label of long form": withdrawal_state(by=b"\xdb\x00\x00\x00\x03tty"),
    "a label of 513 bytes": withdrawal_state(by=b"\xda\x02\x01" + b"k" * 513),
    "text that is not UTF-8": withdrawal_state(by=b"\xa1\xff"),
    "a tick of long form": withdrawal_state(tick=b"\xcc\x05"),
    "a tick beyond 64 bits": withdrawal_state(tick=b"\xcf" + struct.pack(">Q", 2**63)),
    "a float as tick": withdrawal_state(tick=b"\xcb" + struct.pack(">d", 5.0)),
    "True as tick": withdrawal_state(tick=b"\xc3"),
    "nested for ever": b"\x91" * 100_000,
}


@pytest.mark.parametrize("tag", EVENT_TYPES)
def test_the_sound_bytes_below_are_sound(tag: str) -> None:
    """Or the damage would not be what is refused."""
    assert decode_event("a.db", row(tag, sound(tag))).tick == 5


@pytest.mark.parametrize(
    ("tag", "damaged"),
    [
        *(pytest.param("lost", damaged, id=name) for name, damaged in DAMAGED.items()),
        *(
            pytest.param("withdrawal-lost", damaged, id=f"of a withdrawal, {name}")
            for name, damaged in DAMAGED_WITHDRAWALS.items()
        ),
    ],
)
def test_bytes_that_we_did_not_write_are_damage(tag: str, damaged: Any) -> None:
    """The error says where, and no event is made up."""
    with pytest.raises(CorruptLedger) as damage:
        decode_event("a.db", row(tag, damaged))
    assert type(damage.value) is CorruptLedger
    assert damage.value.sequence == 7
    assert damage.value.target == "a.db"
    assert str(damage.value).startswith("a.db: event 7: ")
    assert len(str(damage.value)) < 300


@pytest.mark.parametrize("tag", EVENT_TYPES)
def test_what_an_attempt_led_to_is_no_event_of_a_withdrawal(tag: str) -> None:
    """Nor the other way round, sound as the bytes may be under another tag."""
    other = SOUND if issubclass(EVENT_TYPES[tag], WithdrawalEvent) else SOUND_WITHDRAWAL
    with pytest.raises(CorruptLedger) as damage:
        decode_event("a.db", row(tag, other))
    assert type(damage.value) is CorruptLedger
    assert damage.value.sequence == 7


@pytest.mark.parametrize(
    ("tag", "cut"),
    [
        *(("lost", SOUND[:length]) for length in range(len(SOUND))),
        *(("closed", SOUND_WITHDRAWAL[:length]) for length in range(len(SOUND_WITHDRAWAL))),
    ],
)
def test_truncated_bytes_are_damage(tag: str, cut: bytes) -> None:
    """Wherever they were cut."""
    with pytest.raises(CorruptLedger) as damage:
        decode_event("a.db", row(tag, cut))
    assert type(damage.value) is CorruptLedger
    assert damage.value.sequence == 7


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(state(head=b"\x96\x02"), id="of the same layout"),
        pytest.param(b"\x92\x02\xc0", id="of another layout"),
        pytest.param(b"\x91\x02", id="of nothing else"),
        pytest.param(state(head=b"\x96\x02", response=text("x")), id="of another kind of ids"),
        pytest.param(withdrawal_state(head=b"\x95\x02"), id="of a withdrawal"),
        pytest.param(
            withdrawal_state(head=b"\x95\x02", reason=text("superseded")), id="of another reason"
        ),
    ],
)
@pytest.mark.parametrize("tag", ["lost", "withdrawal-lost"])
def test_an_unknown_version_is_named(tag: str, stored: bytes) -> None:
    """Together with the tag and the sequence: an upgrade may help."""
    with pytest.raises(UnknownEvent) as unknown:
        decode_event("a.db", row(tag, stored))
    error = unknown.value
    assert (error.sequence, error.tag, error.version) == (7, tag, 2)
    assert f"event 7: unknown event: tag {tag!r}, version 2" in str(error)


@pytest.mark.parametrize("version", [0, 127, -1])
def test_any_version_but_ours_is_unknown(version: int) -> None:
    """The ones before ours as well."""
    number = struct.pack("b", version)
    for tag, stored in (
        ("won", state(head=b"\x96" + number)),
        ("closed", withdrawal_state(head=b"\x95" + number)),
    ):
        with pytest.raises(UnknownEvent) as unknown:
            decode_event("a.db", row(tag, stored))
        assert unknown.value.version == version


@pytest.mark.parametrize(
    "tag", ["withdrawn", "withdrawal-closed", "Closed", "Won", "won ", "", "ResolutionWon"]
)
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
        decode_recorded("a.db", (7, stream, 1, "won", SOUND))
    assert damage.value.sequence == 7
