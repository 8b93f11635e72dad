"""Our events as users of the ``eventsourcing`` package meet them."""

from __future__ import annotations

from typing import Any

from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import Mapper, Notification, StoredEvent
from msgspec import Struct

from ..domain.errors import InvalidRecord
from ..domain.events import Event
from .codec import decode_event, encode_event


class StreamEvent(Struct, frozen=True):
    """An event with the names of its place that the package's classes expect."""

    originator_id: str
    originator_version: int
    event: Event


class ResolutionMapper(Mapper[str]):
    """Converts between stored events and :class:`StreamEvent`, by explicit tags.

    The package's own mapper finds a class by its module path, so that a rename would lose
    the history. The bytes are ours alone: no transcoder, compressor or cipher applies.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        """Takes and ignores what the package's factory passes to every mapper."""

    def to_stored_event(self, domain_event: DomainEventProtocol[str]) -> StoredEvent:
        """The stored form of a :class:`StreamEvent`.

        :raises InvalidRecord: for any other kind of event.
        """
        if not isinstance(domain_event, StreamEvent):
            raise InvalidRecord(f"a {type(domain_event).__name__} is no event of this log")
        event = domain_event.event
        return StoredEvent(
            domain_event.originator_id,
            domain_event.originator_version,
            event.tag,
            encode_event(event),
        )

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[str]:
        """The event that was stored.

        :raises CorruptLedger: if it is not what this ledger would have written; its
            ``sequence`` is known where the event comes from a notification log, else 0.
        """
        sequence = stored_event.id if isinstance(stored_event, Notification) else 0
        stream, position = str(stored_event.originator_id), stored_event.originator_version
        row = (sequence, stream, position, stored_event.topic, stored_event.state)
        return StreamEvent(stream, position, decode_event(stream, row))
