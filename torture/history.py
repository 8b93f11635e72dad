"""What clients asked, when, and what they were told: the evidence that histories are judged by.

Times are of ``time.monotonic_ns``, which all processes of a machine share. A call is written down
before it is made and again when it has come back, each in one write, so that nothing that a client
did is missing when it is killed: a call without an end may have happened, or may not.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from time import monotonic_ns

import msgspec
from msgspec import Struct

# What is asked


class Attempt(Struct, frozen=True, tag="resolve"):
    """``resolve``."""

    workspace: str
    response: str
    key: str


class Withdrawal(Struct, frozen=True, tag="withdraw"):
    """``withdraw``."""

    workspace: str
    reason: str


class AskWinner(Struct, frozen=True, tag="winner"):
    """``winner``."""

    workspace: str


class AskHistory(Struct, frozen=True, tag="history"):
    """``history``."""

    workspace: str


class AskWait(Struct, frozen=True, tag="wait"):
    """``wait``, for no time at all."""

    workspace: str


Submission = Attempt | Withdrawal
"""What is put on record. Two of an instance that are equal are one, sent twice."""

Asked = Submission | AskWinner | AskHistory | AskWait

# What is told


class Won(Struct, frozen=True, tag="won"):
    """This attempt counts."""


class Lost(Struct, frozen=True, tag="lost"):
    """Another response counts."""

    winner: str


class Replayed(Struct, frozen=True, tag="replayed"):
    """This response counts already."""

    winner: str
    own: bool


class Withdrawn(Struct, frozen=True, tag="withdrawn"):
    """This withdrawal has closed the instance."""


class Closed(Struct, frozen=True, tag="closed"):
    """A withdrawal has closed the instance before."""

    reason: str


class Conflict(Struct, frozen=True, tag="conflict"):
    """The key is another response's."""

    existing: str


class Outside(Struct, frozen=True, tag="outside"):
    """The instance is another workspace's."""


class WinnerIs(Struct, frozen=True, tag="winner-is"):
    """To ``winner``. None: nobody has won it under this workspace."""

    response: str | None


class Nothing(Struct, frozen=True, tag="nothing"):
    """To ``wait``: nothing has become of the instance yet."""


class Entry(Struct, frozen=True):
    """One attempt or withdrawal on record, as ``history`` and the log tell of it."""

    instance: str
    position: int
    sequence: int
    outcome: str
    submission: Submission
    label: str | None = None
    """Whose it is, by its own account: the client's name. None where nobody has looked."""


class HistoryIs(Struct, frozen=True, tag="history-is"):
    """To ``history``: what the workspace has on record, oldest first."""

    entries: tuple[Entry, ...]


class Failed(Struct, frozen=True, tag="failed"):
    """An error that says that nothing was recorded."""

    error: str
    message: str = ""


class Unknown(Struct, frozen=True, tag="unknown"):
    """An error that says nothing about it, or that nobody knows: it may yet happen."""

    error: str
    message: str = ""


Told = (
    Won
    | Lost
    | Replayed
    | Withdrawn
    | Closed
    | Conflict
    | Outside
    | WinnerIs
    | HistoryIs
    | Nothing
    | Failed
    | Unknown
)


class Call(Struct, frozen=True):
    """One call of a client, from the moment before it was made to the moment after its end."""

    client: str
    number: int
    instance: str
    asked: Asked
    invoked: int
    completed: int | None = None
    """None where it never came back."""
    told: Told | None = None


class _Invoked(Struct, frozen=True, tag="invoked"):
    number: int
    at: int
    instance: str
    asked: Asked


class _Completed(Struct, frozen=True, tag="completed"):
    number: int
    at: int
    told: Told


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Invoked | _Completed).decode


class Notebook:
    """What one client writes down. A file of its own, which outlives it."""

    def __init__(self, directory: Path, client: str) -> None:
        self._descriptor = os.open(
            directory / client, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
        )
        self._number = 0

    def invoke(self, instance: str, asked: Asked) -> int:
        """Note that the call is about to be made; returns its number."""
        self._number += 1
        self._write(_Invoked(self._number, monotonic_ns(), instance, asked))
        return self._number

    def complete(self, number: int, told: Told) -> None:
        """Note what it was told."""
        self._write(_Completed(number, monotonic_ns(), told))

    def close(self) -> None:
        """No more calls."""
        os.close(self._descriptor)

    def _write(self, line: _Invoked | _Completed) -> None:
        os.write(self._descriptor, _encode(line) + b"\n")


def read(directory: Path) -> list[Call]:
    """The calls of all clients that kept notebooks in a directory, by the time of invocation."""
    calls = [call for file in directory.iterdir() for call in _calls(file.name, _lines(file))]
    return sorted(calls, key=lambda call: call.invoked)


def _lines(file: Path) -> list[bytes]:
    """The lines that were written to their end: whoever was killed may have left half a one."""
    return [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def _calls(client: str, lines: Iterable[bytes]) -> list[Call]:
    invoked: dict[int, _Invoked] = {}
    completed: dict[int, _Completed] = {}
    for line in map(_decode, lines):
        if isinstance(line, _Invoked):
            invoked[line.number] = line
        else:
            completed[line.number] = line
    return [
        Call(client, number, begin.instance, begin.asked, begin.at)
        if (end := completed.get(number)) is None
        else Call(client, number, begin.instance, begin.asked, begin.at, end.at, end.told)
        for number, begin in invoked.items()
    ]
