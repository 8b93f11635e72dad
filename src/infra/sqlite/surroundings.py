"""A ledger's file and what is around it, seen without opening the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from glob import escape, glob
from stat import S_IMODE, S_ISLNK, S_ISREG, S_IWOTH

from .. import mounts
from ..health import Observation
from . import wal
from .files import UNFINISHED, names_of_the_making
from .gate import SUFFIX

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

_NO_LOCKS = fcntl is None
_NO_STATVFS = not hasattr(os, "statvfs")

_LONG_WAL = 4 * wal.USUAL_LENGTH
"""Bytes. It gets to its limit, and to twice that after large batches."""

_LITTLE_SPACE = 4 * wal.USUAL_LENGTH
"""Bytes: a WAL after large batches, and its pages once more in the database."""


def observed(place: str, status: os.stat_result) -> Iterator[Observation]:
    """What is to be said of the file at a path without symbolic links."""
    yield Observation("file", status.st_size)
    yield _names(place, status)
    yield _file_system(place)
    yield _free_space(place)
    yield from _access(place, status)
    yield _wal(place)
    yield from _other_files(place)
    yield _gate(place)


def _names(place: str, status: os.stat_result) -> Observation:
    names = status.st_nlink
    if names - 1 not in {0, names_of_the_making(place)}:
        advice = (
            "hard links: a log beside each name would have winners of its own; remove all but one"
        )
        return Observation("names", names, "warning", advice)
    return Observation("names", names)


def _file_system(place: str) -> Observation:
    mounted = mounts.read_mounts()
    mount = None if mounted is None else mounts.mount_of(place, mounted)
    if mount is None:
        advice = "not known here: see to it that it is a local disk"
        return Observation("file system", None, "note", advice)
    level, advice_or_none = mounts.judged(mount, place)
    return Observation("file system", f"{mount.kind} at {mount.point}", level, advice_or_none)


def _free_space(place: str) -> Observation:
    if _NO_STATVFS:
        advice = f"not known here: see to it that it is more than {_LITTLE_SPACE} bytes"
        return Observation("free space", None, "note", advice)
    there = os.statvfs(os.path.dirname(place))
    free = there.f_bavail * there.f_frsize
    if free < _LITTLE_SPACE:
        advice = f"less than {_LITTLE_SPACE} bytes: make room before nothing can be decided"
        return Observation("free space", free, "warning", advice)
    return Observation("free space", free)


def may_write(path: str) -> bool:
    """Whether this process may."""
    effective = os.access in os.supports_effective_ids
    return os.access(path, os.W_OK, effective_ids=effective)


def _access(place: str, status: os.stat_result) -> Iterator[Observation]:
    """Who may write."""
    folder = os.path.dirname(place)
    mode = f"{S_IMODE(status.st_mode):04o}"
    there = {place: status, folder: os.stat(folder), **_beside(place, "-wal", "-shm")}
    said = [
        f"this user may not write to {name}: nothing can be decided"
        for name in there
        if not may_write(name) and os.path.lexists(name)  # or it has gone, and nothing follows
    ]
    said += [
        f"everybody may write to {name}, and so forge who has won"
        for name, status in there.items()
        if _everybody_may_write(status.st_mode)
    ]
    for advice in said:
        yield Observation("access", mode, "warning", advice)
    if not said:
        yield Observation("access", mode)


def _everybody_may_write(mode: int) -> bool:
    """Also into a folder where they may not remove what is others': a -wal can be put there."""
    return os.name == "posix" and not S_ISLNK(mode) and bool(mode & S_IWOTH)


def _beside(place: str, *suffixes: str) -> dict[str, os.stat_result]:
    """What is there of the files that SQLite makes beside a database, and removes at any moment."""
    found = {}
    for suffix in suffixes:
        with suppress(FileNotFoundError):
            found[place + suffix] = os.lstat(place + suffix)
    return found


def _wal(place: str) -> Observation:
    try:
        status = os.lstat(f"{place}-wal")
    except FileNotFoundError:
        return Observation("wal", 0)
    if not S_ISREG(status.st_mode):
        return Observation(
            "wal", None, "warning", "something else is in the place of the -wal file"
        )
    if status.st_size > _LONG_WAL:
        advice = (
            "far longer than it should be: somebody has been reading for very long; find out who"
        )
        return Observation("wal", status.st_size, "warning", advice)
    return Observation("wal", status.st_size)


def odd_neighbours(place: str) -> list[str]:
    """What is in the place of a file that SQLite makes beside a database, and is no file."""
    beside = _beside(place, "-wal", "-shm", "-journal")
    return [name for name, status in beside.items() if not S_ISREG(status.st_mode)]


def _other_files(place: str) -> Iterator[Observation]:
    found = [
        Observation("other files", name, "note", "left by an import or export that was killed")
        for name in sorted(glob(f"{escape(place)}{UNFINISHED}*"))
    ]
    odd = odd_neighbours(place)
    for name in odd:
        if not name.endswith("-wal"):  # which has been said
            advice = "something else in the place of a file of SQLite's own: move it away"
            found.append(Observation("other files", name, "warning", advice))
    journal = f"{place}-journal"
    if journal not in odd and any(one.st_size for one in _beside(place, "-journal").values()):
        advice = (
            "of a transaction that goes on or was interrupted: leave it there, SQLite undoes it"
        )
        found.append(Observation("other files", journal, "note", advice))
    yield from found or [Observation("other files", 0)]


def _gate(place: str) -> Observation:
    """Whether processes can line up there; nothing is made for finding out."""
    if _NO_LOCKS:
        advice = "no locks of this kind here: processes that wait are not served in turn"
        return Observation("gate", None, "note", advice)
    name = place + SUFFIX
    try:
        status = os.lstat(name)
    except FileNotFoundError:
        # Whether there can be locks shows at the folder as well.
        return _locks(os.path.dirname(place), "not made yet")
    # To open and close a database in any way but SQLite's would drop this process's locks on it.
    if not S_ISREG(status.st_mode) or status.st_size or status.st_nlink > 1:
        advice = (
            f"something else is in the place of {name}: processes that wait are not served in turn"
        )
        return Observation("gate", "something else", "warning", advice)
    return _locks(name, "there")


def _locks(name: str, found: str) -> Observation:
    """Whether there are locks of the gate's kind; one that everybody can have with others."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            with suppress(BlockingIOError):  # somebody has it: so there are
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        finally:
            os.close(file)
    except OSError as error:
        advice = (
            f"it cannot be locked ({error.strerror}): processes that wait are not served in turn"
        )
        return Observation("gate", found, "warning", advice)
    return Observation("gate", found)
