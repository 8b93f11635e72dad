"""The file behind a ledger: how it is named to SQLite, and how we know that it is the same.

Nothing in this package opens the file except through SQLite: closing any other descriptor on
it would drop every lock that this process holds there, and two processes could both win.
"""

from __future__ import annotations

import os
from contextlib import suppress
from glob import escape, glob
from stat import S_ISREG
from urllib.parse import quote

from ...domain.errors import NotALedger, StoreUnavailable

UNFINISHED = ".unfinished-"
"""In the name of a file beside a ledger's, until it is whole."""

FileIdentity = tuple[int, int, int]
"""Inode, device and number of names: items 1 to 3 of what ``stat`` returns."""


def database_uri(path: str, *, create: bool) -> str:
    """How to open ``path``, an absolute one, whatever characters its name has."""
    # SQLite gives meaning to "file:", "?", "#" and ":memory:" in a name; a quoted URI has none
    # of these. It is also the only way to say "do not create the file".
    name = quote(os.fsencode(path.replace(os.sep, "/")))
    root = "" if name.startswith("/") else "/"  # in front of a drive letter
    return f"file://{root}{name}?mode={'rwc' if create else 'rw'}"


def file_identity(path: str) -> FileIdentity | None:
    """Which file is at ``path`` now, or None if there is none.

    :raises StoreUnavailable: if the path cannot be looked up, or is one of several names of
        the file: SQLite would keep a log beside each name, and both would have winners.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreUnavailable(path, f"cannot be looked up: {error}") from error
    if not S_ISREG(status.st_mode):
        raise StoreUnavailable(path, "it is no ordinary file")
    if status.st_nlink > 1 and status.st_nlink - 1 != names_of_the_making(path):
        raise StoreUnavailable(path, "the file has more than one name (hard links)")
    return status[1:4]


def check_not_one_byte(path: str) -> None:
    """Refuse a file of one byte: SQLite would take it for an empty one, and write over it.

    :raises NotALedger: if it is one.
    """
    if _length(path) == 1:
        raise NotALedger(path, "it is a file of one byte")


def check_beside(place: str) -> None:
    """See that SQLite's other files are files, where they are there: it would wait for a pipe.

    :param place: where the database is, links followed.
    :raises StoreUnavailable: if one is not.
    """
    for suffix in ("-journal", "-wal", "-shm"):
        with suppress(OSError):  # it is not there
            if not S_ISREG(os.stat(place + suffix).st_mode):
                raise StoreUnavailable(place, f"what is at its {suffix} is no ordinary file")


def names_of_the_making(path: str) -> int:
    """How many names the file has from :func:`move_into_place`.

    One for a moment, or for good if that was killed then. Nobody opens it by them any more.
    """
    made = glob(f"{escape(os.path.realpath(path))}{UNFINISHED}*")
    with suppress(OSError):  # the moment is over
        return sum(os.path.samefile(name, path) for name in made)
    return 0


def check_nothing_left(path: str, place: str) -> None:
    """Refuse a log that lies there without its database.

    SQLite would remove it and what was committed in it, or, beside a file that gets that name
    later, take it for that one's own.

    :param place: where the path leads, links followed.
    :raises StoreUnavailable: if there is one.
    """
    # In this order: whoever makes a ledger makes the database before its log, and not empty.
    log, journal = _length(f"{place}-wal"), _length(f"{place}-journal")
    if not log and not journal:
        return
    length = _length(place)
    # In an empty database, the journal is that of whoever is about to make something there.
    if length is None or (log and not length):
        left = f"{place}-wal" if log else f"{place}-journal"
        raise StoreUnavailable(
            path, f"its database has gone from beside {left}: put that back, or move both away"
        )


def _length(path: str) -> int | None:
    """Bytes; None if there is no such file, or nobody can tell."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return None


def move_into_place(aside: str, path: str) -> None:
    """Give the file at ``aside`` its name, unless somebody else's file has it by now.

    :raises StoreUnavailable: if it has, or if that file's log is still there.
    """
    try:
        check_nothing_left(path, path)
        os.link(aside, path)  # to rename it would replace what another process has made there
    except OSError as error:
        raise StoreUnavailable(path, f"cannot be put into its place: {error}") from error
    finally:
        os.remove(aside)
    if os.name == "posix":
        directory = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def is_at(path: str, identity: FileIdentity) -> bool:
    """Whether ``path`` still leads to this file, which has got no other name since."""
    try:
        return os.stat(path)[1:4] == identity
    except (OSError, ValueError):
        return False
