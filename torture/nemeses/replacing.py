"""An operator who puts a copy, or an older backup, into the place of the file that is in use."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from time import monotonic_ns, sleep

import msgspec
from msgspec import Struct

from ..place import Pace, Place


class Replacement(Struct, frozen=True):
    """When it happened, and what the file that came had on record."""

    before: int
    after: int
    entries: int
    paused: bool


def replace(name: str, place: Place, pace: Pace, seed: str, *, paused: bool) -> None:
    """Once, somewhere in the middle of the round. What was done is written down."""
    random = Random(f"{seed}/{name}")
    copy = f"{place.directory}/copy.db"
    middle = random.uniform(0.35, 0.7) * pace.instances
    if name == "replaced by a backup":
        _sleep_until(pace, random.uniform(0.1, 0.3) * pace.instances)
        _copy(place, copy)
    _sleep_until(pace, middle)
    if paused:
        with open(place.folder("gate"), "rb") as gate:
            place.folder("pause").touch()
            fcntl.flock(gate, fcntl.LOCK_EX)
            _put_into_place(name, place, copy, paused=True)
            place.folder("pause").unlink()
    else:
        _put_into_place(name, place, copy, paused=False)


def _sleep_until(pace: Pace, number: float) -> None:
    sleep(max(0.0, pace.begin + number * pace.step - monotonic_ns() / 1e9))


def _copy(place: Place, copy: str) -> None:
    """As an operator would, with SQLite's online backup. A copy in WAL mode needs no log."""
    with (
        closing(sqlite3.connect(f"file:{place.ledger}?mode=rw", uri=True)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    found = os.stat(place.ledger)
    os.chmod(copy, found.st_mode)
    os.chown(copy, found.st_uid, found.st_gid)


def _put_into_place(name: str, place: Place, copy: str, *, paused: bool) -> None:
    if name == "replaced by a copy":
        _copy(place, copy)
    with closing(sqlite3.connect(copy)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            return  # there was no ledger yet when it was taken
        entries = connection.execute("SELECT max(sequence) FROM resolution_events").fetchone()[0]
    before = monotonic_ns()
    os.unlink(place.ledger)
    for beside in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(place.ledger + beside)
    os.rename(copy, place.ledger)
    found = Replacement(before, monotonic_ns(), entries or 0, paused)
    place.folder("replaced").write_bytes(msgspec.json.encode(found))
    place.strike(name)


def replacement(place: Place) -> Replacement | None:
    """What was done in a round, if anything was."""
    path: Path = place.folder("replaced")
    if not path.exists():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Replacement)
