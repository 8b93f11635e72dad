"""The hash chain: each event vouches for all that came before it.

An event's hash is SHA-256 over the hash before it and over the event: sequence, stream,
position, tag and bytes. Hashes have 32 bytes; numbers 8, signed, big-endian; and whatever
varies in length is preceded by its length, in 4. So no two logs give the same bytes, and
whoever changes, removes, adds or swaps events changes every hash from there on. Before the first
event stands the hash of a word and the ledger's own identity: two ledgers have different chains
even where they hold the same events.

The bytes are part of the storage format; ``docs/verify.md`` describes them for others.
"""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

HASH_SIZE = 32
_ORIGIN = b"resolution-ledger chain 1\n"


class Head(Struct, frozen=True):
    """The end of a log: what the next event continues."""

    sequence: int
    """Of the newest event; 0 where there is none yet."""
    hash: bytes


def origin(ledger_id: str) -> Head:
    """The head of a ledger that has no event yet."""
    return Head(0, sha256(_ORIGIN + ledger_id.encode()).digest())


def link(  # noqa: PLR0913, PLR0917 - everything that an event vouches for
    previous: bytes, sequence: int, stream: str, position: int, tag: str, state: bytes
) -> bytes:
    """The hash of an event that follows the event of hash ``previous``.

    :raises OverflowError: if a number has more than 64 bits.
    """
    # Text that is damaged beyond UTF-8 is hashed as it is stored.
    stream_bytes = stream.encode(errors="surrogateescape")
    tag_bytes = tag.encode(errors="surrogateescape")
    return sha256(
        previous
        + sequence.to_bytes(8, signed=True)
        + len(stream_bytes).to_bytes(4)
        + stream_bytes
        + position.to_bytes(8, signed=True)
        + len(tag_bytes).to_bytes(4)
        + tag_bytes
        + len(state).to_bytes(4)
        + state
    ).digest()
