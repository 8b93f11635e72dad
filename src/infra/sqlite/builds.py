"""The build of SQLite that this process has, and what is known of its kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from math import inf

from ..health import Observation

_FIRST_WITH_FAULT, _FIRST_WITHOUT = (3, 7, 0), (3, 51, 3)
_MENDED_IN = {(3, 44): 6, (3, 50): 7}
"""The older lines that were mended, each from this release on."""

_THREADING = {0: "single-thread", 1: "multi-thread", 3: "serialized"}
"""By what the DB-API calls it."""

_FAULT = (
    "this build can lose commits (the WAL-reset fault of 3.7.0 to 3.51.2, but for 3.44.6 and"
    " 3.50.7): a ledger does not cause it, another program that writes to this database can"
)


def has_wal_reset_fault(version: tuple[int, ...]) -> bool:
    """Whether builds of this version can lose commits where two copyings of the WAL race."""
    if not _FIRST_WITH_FAULT <= version < _FIRST_WITHOUT:
        return False
    return version[2] < _MENDED_IN.get((version[0], version[1]), inf)


def observed(*, shared: bool) -> Iterator[Observation]:
    """What there is to say of the build.

    :param shared: the database has tables of others, who may write there in their own way.
    """
    faulty = has_wal_reset_fault(sqlite3.sqlite_version_info)
    yield Observation(
        "sqlite",
        sqlite3.sqlite_version,
        ("warning" if shared else "note") if faulty else "fine",
        (f"{_FAULT}; it has tables of others" if shared else _FAULT) if faulty else None,
    )
    yield threading_mode(sqlite3.threadsafety)


def threading_mode(safety: int) -> Observation:
    """Whether threads may use SQLite, by what its module says of itself."""
    mode = _THREADING.get(safety, str(safety))
    if safety == 0:
        advice = "built without threads: use another build, or one thread in each process"
        return Observation("threading mode", mode, "warning", advice)
    return Observation("threading mode", mode)


def durability(connection: sqlite3.Connection) -> Observation:
    """What our own openers get, and others unless they say something else."""
    options: dict[str, str] = {}
    for (option,) in connection.execute("PRAGMA compile_options").fetchall():
        name, _, value = str(option).partition("=")
        options[name] = value
    others = options.get("DEFAULT_WAL_SYNCHRONOUS", options.get("DEFAULT_SYNCHRONOUS", "2"))
    advice = "each opener's own choice; full unless it says normal"
    if others < "2":  # OFF, NORMAL; FULL, EXTRA
        advice += f"; programs that say nothing get synchronous={others} of this build"
    return Observation("durability", "full", "note", advice)
