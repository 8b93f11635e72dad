"""The stored form of an event: its tag and its bytes.

The bytes are MessagePack, an array: ``[version, response, workspace, key, submitted_by,
tick]``. Tag, version and layout are the storage format: golden bytes in the tests hold them.
The response comes first because every response is as long as any other, so that it always
occupies the bytes 5 to 63, where a guard of the database compares it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..domain.errors import CorruptLedger, InvalidId, ResolutionError, UnknownEvent
from ..domain.events import EVENT_TYPES, Attempt, AttemptEvent, Win, check_tick
from ..domain.ids import InstanceId, ResponseId
from ..domain.records import RecordedAttempt
from ..domain.text import IdempotencyKey, check_text
from .database import StoredRow

VERSION = 1
"""The version that is written. Whoever changes the layout adds a version and its decoder."""

_encode = msgspec.msgpack.Encoder().encode
_Stored = tuple[Literal[1], str, str, str, str, int]
_decode = msgspec.msgpack.Decoder(_Stored).decode


def encode_event(event: AttemptEvent) -> bytes:
    """The bytes to store beside ``event.tag``."""
    attempt = event.attempt
    return _encode(
        (
            VERSION,
            attempt.response.text,
            attempt.workspace,
            attempt.idempotency_key.text,
            attempt.submitted_by,
            event.tick,
        )
    )


def decode_event(target: str, row: StoredRow) -> AttemptEvent:
    """The event that was stored in a row of the ledger at ``target``.

    :raises UnknownEvent: if this code does not know the tag or version.
    :raises CorruptLedger: if the bytes are not what this ledger would have written there.
    """
    sequence, _, position, tag, state = row
    event_type = EVENT_TYPES.get(tag)
    if event_type is None:
        raise UnknownEvent(target, sequence=sequence, tag=tag, version=_version_of(state))
    try:
        stored = _decode(state)
        _, response, workspace, key, submitted_by, tick = stored
        check_tick(tick)
        attempt = Attempt(
            check_text("workspace", workspace),
            ResponseId(response),
            IdempotencyKey(key),
            check_text("submitted_by", submitted_by, may_be_empty=True),
        )
    except (msgspec.DecodeError, ResolutionError, TypeError, RecursionError) as error:
        version = _version_of(state)
        if version is not None and version != VERSION:
            raise UnknownEvent(target, sequence=sequence, tag=tag, version=version) from error
        raise CorruptLedger(target, str(error), sequence=sequence) from error
    # One event has one spelling: MessagePack would also read longer encodings of the same.
    if _encode(stored) != state:
        raise CorruptLedger(target, "not the bytes of any event", sequence=sequence)
    if type(position) is not int:
        raise CorruptLedger(target, f"position {position!r}", sequence=sequence)
    if (position == 1) is not issubclass(event_type, Win):
        # Wherever else a win stood, it would name a second winner.
        raise CorruptLedger(target, f"{tag!r} at position {position!r}", sequence=sequence)
    return event_type(attempt, tick)


def decode_attempt(target: str, row: StoredRow) -> RecordedAttempt:
    """The attempt on record in one row of the log.

    :raises CorruptLedger: as :func:`decode_event` does, and for a stream that is no id.
    """
    sequence, stream, position, _, _ = row
    event = decode_event(target, row)
    try:
        instance = InstanceId(stream)
    except InvalidId as error:
        raise CorruptLedger(target, str(error), sequence=sequence) from error
    return recorded_attempt(instance, position, sequence, event)


def recorded_attempt(
    instance: InstanceId, position: int, sequence: int, event: AttemptEvent
) -> RecordedAttempt:
    """The event together with its places in the log."""
    attempt = event.attempt
    return RecordedAttempt(
        instance,
        position,
        sequence,
        event.tag,
        attempt.response,
        attempt.idempotency_key,
        attempt.submitted_by,
        attempt.workspace,
        event.tick,
    )


def _version_of(state: bytes) -> object:
    """The version that the bytes claim, or None where they claim none."""
    try:
        stored = msgspec.msgpack.decode(state)
    except (msgspec.DecodeError, TypeError, RecursionError):
        return None
    return stored[0] if isinstance(stored, list) and stored else None
