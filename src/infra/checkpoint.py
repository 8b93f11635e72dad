"""Checkpoints: a short text that commits to everything in the log up to some length.

Kept where the database's owner cannot reach it, it shows later whether the log was cut, put
back to an older copy, or written anew. The layout is the note text of C2SP's tlog-checkpoint
(c2sp.org/tlog-checkpoint): origin, length and hash on three lines. Two things differ: the hash
is the head of a linear chain and not the root of a tree, and there is no signature. Whatever
follows the three lines, a signature for one, is left to those who put it there.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error

from msgspec import Struct

from ..domain.errors import CorruptLedger, InvalidCheckpoint
from .chain import HASH_SIZE
from .database import OperatorSession

_ORIGIN = "resolution-ledger/"
LEDGER_ID = re.compile(r"[0-9a-f]{32}")
_LENGTH = re.compile(r"0|[1-9][0-9]{0,18}")


class Checkpoint(Struct, frozen=True):
    """What a ledger was when it had ``length`` events."""

    ledger_id: str
    length: int
    hash: bytes

    def __str__(self) -> str:
        return f"{_ORIGIN}{self.ledger_id}\n{self.length}\n{b64encode(self.hash).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """The checkpoint that a text begins with.

        :raises InvalidCheckpoint: if it begins with none.
        """
        if not isinstance(text, str):
            raise InvalidCheckpoint("it is no text")
        lines = text.split("\n")
        if len(lines) <= 3:  # noqa: PLR2004 - three lines, and the end of the third
            raise InvalidCheckpoint("it does not have three whole lines")
        origin, length, digest = lines[:3]
        ledger_id = origin.removeprefix(_ORIGIN)
        if ledger_id == origin or not LEDGER_ID.fullmatch(ledger_id):
            raise InvalidCheckpoint("its first line names no ledger")
        if not _LENGTH.fullmatch(length):
            raise InvalidCheckpoint("its second line is no length")
        try:
            decoded = b64decode(digest, validate=True)
        except (Base64Error, ValueError):
            decoded = b""
        if len(decoded) != HASH_SIZE or b64encode(decoded).decode() != digest:
            raise InvalidCheckpoint("its third line is no hash")
        return cls(ledger_id, int(length), decoded)


def take_checkpoint(session: OperatorSession) -> Checkpoint:
    """The checkpoint of a ledger as it is now.

    :raises CorruptLedger: if nobody could tell afterwards which ledger it was of.
    """
    with session.snapshot():
        head, ledger_id = session.head(), session.ledger_id()
    if not LEDGER_ID.fullmatch(ledger_id):
        raise CorruptLedger(session.target, f"its identity is {ledger_id!r}")
    return Checkpoint(ledger_id, head.sequence, head.hash)
