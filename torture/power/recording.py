"""Recordings of what a Python program, and the SQLite in it, does to the files of a directory.

``recorder.c`` is compiled, and preloaded into a process of its own. What that process writes to the
file ``marks`` in the directory is no part of the disk: it stands in the recording as a mark, so the
order of what was acknowledged and what was synced is exact.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .disk import Mark, Name, Recording, Resize, Step, Sync, SyncNames, Write

MARKS = "marks"
_NOT_ON_DISK = ("-shm",)
_SOURCE = Path(__file__).with_name("recorder.c")
_HEAD = struct.Struct("=IiqQ")
_OPENED, _WRITTEN, _CUT, _SYNCED, _CLOSED, _UNLINKED, _LINKED, _RENAMED, _BEYOND = range(1, 10)
_PATIENCE = 300


class CannotRecord(Exception):
    """No recording can be made here, and why."""


class Beyond(Exception):
    """The program did to a file what no recording shows."""


def compile_recorder(directory: Path) -> Path:
    """The recorder, as a library to be preloaded.

    :raises CannotRecord: where there is no such thing, or no compiler.
    """
    if not sys.platform.startswith("linux"):
        raise CannotRecord("the recorder is preloaded as Linux does it")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise CannotRecord("there is no C compiler")
    library = directory / "recorder.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(_SOURCE), "-lpthread"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise CannotRecord(f"the recorder does not compile: {done.stderr}")
    return library


def record(library: Path, command: Sequence[str], directory: Path, log: Path) -> Recording:
    """What a command does to the files in a directory. Some may be there already.

    :raises CannotRecord: if nothing was recorded: preloading does not work here.
    :raises Beyond: if it did what no recording shows.
    """
    place = os.path.realpath(directory)
    before = {name: Path(place, name).read_bytes() for name in sorted(os.listdir(place))}
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "RECORDED_DIRECTORY": place,
        "RECORD": str(log),
    }
    done = subprocess.run(  # noqa: S603
        command, env=environment, check=False, capture_output=True, text=True, timeout=_PATIENCE
    )
    if done.returncode:
        raise RuntimeError(f"{command} failed: {done.stderr}")
    if not log.exists():
        raise CannotRecord("the recorder was not preloaded")
    steps = tuple(_Reader(place, before).read(log.read_bytes()))
    recording = Recording(before, steps)
    if not recording.count(Write):
        raise CannotRecord("SQLite's writes pass the recorder by")
    return recording


class _Reader:
    """Makes steps of records: descriptors and names become files."""

    def __init__(self, place: str, before: dict[str, bytes]) -> None:
        self._place = place
        self._files = {name: number for number, name in enumerate(before)}
        self._next = len(before)
        self._open: dict[int, tuple[str, int]] = {}
        """By descriptor: under which name it was opened, and which file it is."""

    def read(self, log: bytes) -> Iterator[Step]:
        at = 0
        while at < len(log):
            kind, descriptor, number, length = _HEAD.unpack_from(log, at)
            at += _HEAD.size
            yield from self._steps(kind, descriptor, number, log[at : at + length])
            at += length

    def _steps(self, kind: int, descriptor: int, number: int, data: bytes) -> Iterator[Step]:
        if kind == _OPENED:
            yield from self._opened(descriptor, self._name(data), made=bool(number))
        elif kind in (_UNLINKED, _LINKED, _RENAMED):
            yield from self._named(kind, [self._name(name) for name in data.split(b"\0")])
        elif kind == _CLOSED:
            del self._open[descriptor]
        else:
            yield from self._changed(kind, *self._open[descriptor], number, data)

    def _changed(self, kind: int, name: str, file: int, number: int, data: bytes) -> Iterator[Step]:
        if name == MARKS and kind == _WRITTEN:
            yield Mark(data)
        elif name == "" and kind == _SYNCED:
            yield SyncNames()
        elif name == MARKS or name.endswith(_NOT_ON_DISK):
            return
        elif kind == _WRITTEN:
            yield Write(file, number, data)
        elif kind == _CUT:
            yield Resize(file, number)
        elif kind == _SYNCED:
            yield Sync(file)
        else:
            raise Beyond(f"{data.decode()} of {name}")

    def _opened(self, descriptor: int, name: str, *, made: bool) -> Iterator[Step]:
        if made:
            self._files[name] = self._next
            self._next += 1
            if name != MARKS and not name.endswith(_NOT_ON_DISK):
                yield Name(name, self._files[name])
        self._open[descriptor] = name, self._files.get(name, -1)

    def _named(self, kind: int, names: list[str]) -> Iterator[Step]:
        old, new = names[0], names[-1]
        file = self._files[old]
        if kind != _UNLINKED:
            self._files[new] = file
        if kind != _LINKED:
            del self._files[old]
        if old.endswith(_NOT_ON_DISK):
            return
        if kind != _UNLINKED:
            yield Name(new, file)
        if kind != _LINKED:
            yield Name(old, None)

    def _name(self, path: bytes) -> str:
        """Within the directory; nothing, if it is itself."""
        name = os.path.relpath(os.fsdecode(path), self._place)
        return "" if name == os.curdir else name
