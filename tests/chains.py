"""The hash chain once more, made from its description alone: SHA-256 over what is written here.

First stands the hash before, of 32 bytes. Then come the sequence, a text, the position, a text
and the bytes of the event: numbers signed, of 8 bytes, the most significant first; the others
behind their length, of 4 bytes.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable
from hashlib import sha256

Event = tuple[int, str, int, str, bytes]
"""Sequence, stream, position, tag, bytes."""


def origin(ledger_id: str) -> bytes:
    """What stands before the first event of a ledger."""
    return sha256(b"resolution-ledger chain 1\n" + ledger_id.encode("utf-8")).digest()


def link(previous: bytes, event: Event) -> bytes:
    """The hash of an event that follows the one of hash ``previous``."""
    sequence, stream, position, tag, state = event
    of_stream, of_tag = (text.encode("utf-8", "surrogateescape") for text in (stream, tag))
    layout = f">32s q I{len(of_stream)}s q I{len(of_tag)}s I{len(state)}s"
    return sha256(
        struct.pack(
            layout,
            previous,
            sequence,
            len(of_stream),
            of_stream,
            position,
            len(of_tag),
            of_tag,
            len(state),
            state,
        )
    ).digest()


def hashes(ledger_id: str, events: Iterable[Event]) -> list[bytes]:
    """What the events of a whole log have for hashes."""
    chain = [origin(ledger_id)]
    for event in events:
        chain.append(link(chain[-1], event))
    return chain[1:]


def hashes_on_record(connection: sqlite3.Connection) -> list[bytes]:
    """The hashes that the events of a ledger have, as anybody can read them."""
    rows = connection.execute("SELECT hash FROM resolution_events ORDER BY sequence")
    return [digest for (digest,) in rows]


def unbroken(connection: sqlite3.Connection) -> int:
    """How many events of a ledger, from the first on, have the hashes that they must have."""
    ((ledger_id,),) = connection.execute("SELECT ledger_id FROM resolution_ledger_meta")
    events = connection.execute(
        "SELECT sequence, originator_id, originator_version, topic, state"
        "  FROM resolution_events ORDER BY sequence"
    )
    found, expected = hashes_on_record(connection), hashes(ledger_id, events)
    right = [one == other for one, other in zip(found, expected, strict=True)]
    return [*right, False].index(False)
