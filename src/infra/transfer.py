"""Moving a ledger: out of one database as JSON lines, and into another as the same ledger.

The first line says which ledger it is, how long, and its head hash; each other line is an
event as it is stored, with its hash. Nothing depends on when or where it was exported, so two
exports of the same log are the same bytes. ``docs/verify.md`` describes the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal, TypeVar

import msgspec
from msgspec import Struct

from ..domain.decision import redecide
from ..domain.errors import CorruptLedger, InvalidExport, InvalidId, LedgerNotEmpty
from ..domain.events import ResolutionAdopted
from ..domain.ids import InstanceId
from . import chain
from .chain import Head
from .checkpoint import LEDGER_ID, Checkpoint, take_checkpoint
from .codec import decode_event
from .database import Database, OperatorSession
from .log import append, look
from .rows import LogRow
from .runs import PAGE, OnProgress, Run, ordered_log_pages

_LONGEST_LINE = 65_536
"""Bytes. An event of ours needs some 3,000."""


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    format: Literal["resolution-ledger"]
    version: Literal[1]
    ledger: str
    length: int
    hash: bytes


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """An event. Bytes are in base64, as everywhere in the file."""

    sequence: int
    stream: str
    position: int
    tag: str
    state: bytes
    hash: bytes


T = TypeVar("T")
_Values = tuple[int, str, int, str, bytes, bytes]

_encode = msgspec.json.Encoder().encode
_header = msgspec.json.Decoder(Header).decode
_line = msgspec.json.Decoder(Line).decode


def export(database: Database, file: BinaryIO, on_progress: OnProgress | None = None) -> Checkpoint:
    """Write the log, up to the head that is there now; return the checkpoint of it.

    :raises CorruptLedger: at an event that no JSON can hold.
    """
    now = database.read(take_checkpoint)
    run = Run(now.length, now.length, on_progress)
    header = Header("resolution-ledger", 1, now.ledger_id, now.length, now.hash)
    file.write(_encode(header) + b"\n")
    for page in ordered_log_pages(database, now.length):
        file.write(b"".join(_exported(database.target, row) for row in page))
        run.advance(len(page))
    return now


def _exported(target: str, row: LogRow) -> bytes:
    values = (row.sequence, row.stream, row.position, row.tag, row.state, row.hash)
    try:
        return _encode(Line(*msgspec.convert(values, _Values, builtin_types=(bytes,)))) + b"\n"
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise CorruptLedger(target, str(error), sequence=row.sequence) from error


def import_(
    database: Database, file: BinaryIO, on_progress: OnProgress | None = None
) -> Checkpoint:
    """Make an empty ledger the exported one: the same identity, chain and answers.

    In one transaction, and every event is checked as it is read: its place, its hash, its
    bytes, and that the rules decide it so. Either all is there afterwards, or nothing.

    :raises InvalidExport: naming the line where the export is not sound.
    :raises LedgerNotEmpty: if the ledger has events already.
    """
    lines = _lines(file)
    first = next(lines, b"")
    header = _parsed(1, first, _header)
    if not LEDGER_ID.fullmatch(header.ledger):
        raise InvalidExport(1, "it names no ledger")
    if header.length < 0:
        raise InvalidExport(1, "a length is not negative")
    run = Run(header.length, header.length, on_progress)

    def take_in(session: OperatorSession) -> Head:
        session.establish()
        if there := session.head_sequence():
            raise LedgerNotEmpty(session.target, there)
        session.take_identity(header.ledger)
        head, adopting = chain.origin(header.ledger), True
        for number, text in enumerate(lines, start=2):
            line = _parsed(number, text, _line)
            try:
                head, adopting = _take_in(session, head, line, adopting=adopting)
            except _Unsound as error:
                raise InvalidExport(number, str(error)) from error.__cause__
            if head.sequence % PAGE == 0:
                run.advance(PAGE)
        if (head.sequence, head.hash) != (header.length, header.hash):
            raise InvalidExport(head.sequence + 1, "it does not end as its first line says")
        return head

    head = database.establish(take_in, create=True)
    run.advance(header.length)
    return Checkpoint(header.ledger, head.sequence, head.hash)


class _Unsound(Exception):
    """An event that does not continue the log."""


def _take_in(
    session: OperatorSession, head: Head, line: Line, *, adopting: bool
) -> tuple[Head, bool]:
    """Append the event of a line; the new head, and whether the next event may be adopted."""
    if line.sequence != head.sequence + 1:
        raise _Unsound(f"event {head.sequence + 1} is due, not {line.sequence}")
    stored = (line.sequence, line.stream, line.position, line.tag, line.state)
    try:
        event = decode_event(session.target, stored)
        instance = InstanceId(line.stream)
    except CorruptLedger as error:
        raise _Unsound(error.reason) from error
    except InvalidId as error:
        raise _Unsound(str(error)) from error
    _, last_position, state = look(session, instance, event.cause)
    if line.position != last_position + 1:
        raise _Unsound(f"position {last_position + 1} is due, not {line.position}")
    adopted = isinstance(event, ResolutionAdopted)
    if redecide(state, event) is not type(event) or (adopted and not adopting):
        raise _Unsound(f"by the rules, this is not {line.tag!r}")
    head = append(session, head, instance, line.position, event)
    if head.hash != line.hash:
        raise _Unsound("its hash is not the one that the chain demands")
    return head, adopted


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, each with its end."""
    number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if not line.endswith(b"\n"):
            raise InvalidExport(number, "it is cut off, or too long")
        yield line


def _parsed(number: int, line: bytes, decode: Callable[[bytes], T]) -> T:
    """A line's value, if the line is its one spelling."""
    try:
        value = decode(line)
        again = _encode(value) + b"\n"
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise InvalidExport(number, str(error)) from error
    if again != line:
        raise InvalidExport(number, "another spelling of what it says")
    return value
