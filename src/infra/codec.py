"""The stored form of an event: its tag and its bytes.

The bytes are MessagePack, an array. Of an attempt: ``[version, response, workspace, key,
submitted_by, tick]``; of a withdrawal: ``[version, reason, workspace, submitted_by, tick]``. Tag,
version and layout are the storage format: golden bytes in the tests hold them. The response comes
first because every response is as long as any other, so that it always occupies the bytes 5 to
63, where a guard of the database compares it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from ..domain.errors import CorruptLedger, InvalidId, ResolutionError, UnknownEvent
from ..domain.events import (
    EVENT_TYPES,
    Attempt,
    Event,
    Withdrawal,
    WithdrawalEvent,
    check_tick,
)
from ..domain.ids import InstanceId, ResponseId
from ..domain.records import FIRST, Reason, RecordedAttempt
from ..domain.text import IdempotencyKey, check_text
from .rows import StoredRow

VERSION = 1
"""The version that is written. Whoever changes a layout adds a version and its decoder."""

_encode = msgspec.msgpack.Encoder().encode
_StoredAttempt = tuple[Literal[1], str, str, str, str, int]
_StoredWithdrawal = tuple[Literal[1], Reason, str, str, int]
_decode_attempt = msgspec.msgpack.Decoder(_StoredAttempt).decode
_decode_withdrawal = msgspec.msgpack.Decoder(_StoredWithdrawal).decode


def encode_event(event: Event) -> bytes:
    """The bytes to store beside ``event.tag``."""
    cause = event.cause
    if isinstance(cause, Attempt):
        return _encode(
            (
                VERSION,
                cause.response.text,
                cause.workspace,
                cause.idempotency_key.text,
                cause.submitted_by,
                event.tick,
            )
        )
    return _encode((VERSION, cause.reason, cause.workspace, cause.submitted_by, event.tick))


def decode_event(target: str, row: StoredRow) -> Event:
    """The event that was stored in a row of the ledger at ``target``.

    :raises UnknownEvent: if this code does not know the tag or version.
    :raises CorruptLedger: if the bytes are not what this ledger would have written there.
    """
    sequence, _, position, tag, state = row
    event_type = EVENT_TYPES.get(tag)
    if event_type is None:
        raise UnknownEvent(target, sequence=sequence, tag=tag, version=_version_of(state))
    try:
        stored, cause, tick = _READERS[event_type](state)
        check_tick(tick)
    except (msgspec.DecodeError, ResolutionError, TypeError, RecursionError) as error:
        version = _version_of(state)
        if version is not None and version != VERSION:
            raise UnknownEvent(target, sequence=sequence, tag=tag, version=version) from error
        raise CorruptLedger(target, str(error), sequence=sequence) from error
    # One event has one spelling: MessagePack would also read longer encodings of the same.
    if _encode(stored) != state:
        raise CorruptLedger(target, "not the bytes of any event", sequence=sequence)
    if type(position) is not int or (position == 1) is not (event_type.tag in FIRST):
        # Wherever else a win stood, it would name a second winner.
        raise CorruptLedger(target, f"{tag!r} at position {position!r}", sequence=sequence)
    return event_type(cause, tick)


def _attempt(state: bytes) -> tuple[_StoredAttempt, Attempt, int]:
    stored = _decode_attempt(state)
    _, response, workspace, key, submitted_by, tick = stored
    attempt = Attempt(
        check_text("workspace", workspace),
        ResponseId(response),
        IdempotencyKey(key),
        check_text("submitted_by", submitted_by, may_be_empty=True),
    )
    return stored, attempt, tick


def _withdrawal(state: bytes) -> tuple[_StoredWithdrawal, Withdrawal, int]:
    stored = _decode_withdrawal(state)
    _, reason, workspace, submitted_by, tick = stored
    withdrawal = Withdrawal(
        check_text("workspace", workspace),
        reason,
        check_text("submitted_by", submitted_by, may_be_empty=True),
    )
    return stored, withdrawal, tick


_READERS: dict[type[Event], Callable[[bytes], tuple[object, Attempt | Withdrawal, int]]] = {
    event_type: _withdrawal if issubclass(event_type, WithdrawalEvent) else _attempt
    for event_type in EVENT_TYPES.values()
}


def decode_recorded(target: str, row: StoredRow) -> RecordedAttempt:
    """The attempt on record in one row of the log.

    :raises CorruptLedger: as :func:`decode_event` does, and for a stream that is no id.
    """
    sequence, stream, position, _, _ = row
    event = decode_event(target, row)
    try:
        instance = InstanceId(stream)
    except InvalidId as error:
        raise CorruptLedger(target, str(error), sequence=sequence) from error
    return recorded_of(instance, position, sequence, event)


def recorded_of(
    instance: InstanceId, position: int, sequence: int, event: Event
) -> RecordedAttempt:
    """What led to the event, together with its places in the log."""
    cause = event.cause
    if isinstance(cause, Attempt):
        response, key, reason = cause.response, cause.idempotency_key, None
    else:
        response, key, reason = None, None, cause.reason
    return RecordedAttempt(
        instance,
        position,
        sequence,
        event.tag,
        response,
        key,
        cause.submitted_by,
        cause.workspace,
        event.tick,
        reason,
    )


def _version_of(state: bytes) -> object:
    """The version that the bytes claim, or None where they claim none."""
    try:
        stored = msgspec.msgpack.decode(state)
    except (msgspec.DecodeError, TypeError, RecursionError):
        return None
    return stored[0] if isinstance(stored, list) and stored else None
