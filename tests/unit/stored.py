"""Bytes as an event has them, made without the codec."""

from __future__ import annotations

from typing import Any

from resolution_ledger.domain.events import EVENT_TYPES, WithdrawalEvent
from resolution_ledger.domain.records import FIRST
from resolution_ledger.infra.rows import StoredRow
from samples import instance

RESPONSE = "bafyr4ihffioouzgcpdxiyn7w3pe6r2phldfz5or34ojzoaeqr5eihlq5ne"


def row(tag: str, stored: Any) -> StoredRow:
    """A row of the log where an event of this tag can stand."""
    return 7, instance(0).text, 1 if tag in FIRST else 3, tag, stored


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


SOUND_FIELDS_OF_A_WITHDRAWAL = {
    "head": b"\x95\x01",
    "reason": text("expired"),
    "workspace": text("ws-1"),
    "by": text("tty"),
    "tick": b"\x05",
}


def state(**fields: bytes) -> bytes:
    """The bytes of a sound event that an attempt led to, except for ``fields``."""
    assert fields.keys() <= SOUND_FIELDS.keys()
    return b"".join((SOUND_FIELDS | fields).values())


def withdrawal_state(**fields: bytes) -> bytes:
    """The bytes of a sound event that a withdrawal led to, except for ``fields``."""
    assert fields.keys() <= SOUND_FIELDS_OF_A_WITHDRAWAL.keys()
    return b"".join((SOUND_FIELDS_OF_A_WITHDRAWAL | fields).values())


def sound(tag: str) -> bytes:
    """Bytes that are sound under this tag."""
    return withdrawal_state() if issubclass(EVENT_TYPES[tag], WithdrawalEvent) else state()
