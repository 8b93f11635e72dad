"""Processes beside the clients that use, or abuse, the same file."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing, suppress
from random import Random
from time import monotonic, sleep

from resolution_ledger import CorruptLedger, LedgerAdmin, StoreError

from ..place import Pace, Place

NOBODY = 65534


def run(name: str, place: Place, pace: Pace, seed: str) -> None:
    """Strike until the last instance has had its turn."""
    while monotonic() < pace.end and not os.path.exists(place.ledger):
        sleep(0.005)
    _OUTSIDE[name](place, pace, Random(f"{seed}/{name}"))


def _connect(place: Place) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{place.ledger}?mode=rw", uri=True, isolation_level=None)


def hold_lock(place: Place, pace: Pace, random: Random) -> None:
    """A foreign writer, longer than some clients wait."""
    while monotonic() < pace.end:
        try:
            with closing(_connect(place)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                place.strike("held lock")
                sleep(random.choice((0.02, 0.1, 0.6)))
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            pass
        sleep(random.uniform(0.01, 0.1))


def storm_with_checkpoints(place: Place, pace: Pace, random: Random) -> None:
    """Checkpoints of every kind, as fast as they go."""
    while monotonic() < pace.end:
        try:
            with closing(_connect(place)) as connection:
                for _ in range(random.randint(1, 200)):
                    kind = random.choice(("PASSIVE", "FULL", "RESTART", "TRUNCATE"))
                    connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
                    place.strike("checkpoint storm")
                    sleep(random.choice((0, 0.0005, 0.002)))
                    if monotonic() > pace.end:
                        return
        except sqlite3.Error:
            sleep(0.002)


def read_without_end(place: Place, pace: Pace, random: Random) -> None:
    """A transaction that reads, and stays."""
    sleep(random.uniform(0, 0.2))
    while monotonic() < pace.end:
        try:
            with closing(_connect(place)) as connection:
                connection.execute("BEGIN")
                before = connection.execute("SELECT count(*) FROM resolution_events").fetchone()
                place.strike("endless reader")
                sleep(max(0.0, pace.end - monotonic()))
                again = connection.execute("SELECT count(*) FROM resolution_events").fetchone()
                if before != again:
                    place.fault("endless reader", f"it read {before} and then {again}")
        except sqlite3.Error:
            sleep(0.01)


def audit(place: Place, pace: Pace, random: Random) -> None:
    """Verifies the ledger beside those who write."""
    while monotonic() < pace.end:
        try:
            with LedgerAdmin.open(place.ledger) as admin:
                report = admin.verify()
                place.strike("auditor")
                if not report.clean:
                    place.fault("auditor", f"beside writers: {report.findings}")
        except CorruptLedger as error:
            place.fault("auditor", f"beside writers: {error!r}")
        except StoreError:
            pass
        sleep(random.uniform(0.05, 0.2))


def forbid_file(place: Place, pace: Pace, random: Random) -> None:
    """Takes from everybody the right to write to the database, and gives it back."""
    _forbid("read-only file", place.ledger, place, pace, random)


def forbid_directory(place: Place, pace: Pace, random: Random) -> None:
    """Takes from everybody the right to make files beside the database, and gives it back."""
    folder = os.path.dirname(place.ledger)
    _forbid("closed directory", folder, place, pace, random)


def _forbid(name: str, path: str, place: Place, pace: Pace, random: Random) -> None:
    open_ = stat.S_IMODE(os.stat(path).st_mode)
    while monotonic() < pace.end:
        try:
            os.chmod(path, open_ & ~0o222)
            if _is_closed_to_nobody(path):
                place.strike(name)
            sleep(random.choice((0.01, 0.05, 0.2)))
        finally:
            os.chmod(path, open_)
            # SQLite has made these like the database: they stay as they are when that is mended.
            for beside in (f"{path}-wal", f"{path}-shm"):
                with suppress(FileNotFoundError):
                    os.chmod(beside, open_)
        sleep(random.uniform(0.01, 0.1))


def _is_closed_to_nobody(path: str) -> bool:
    """Whether somebody without privileges may not write there. To root all is open."""
    if os.geteuid() != 0:
        return not os.access(path, os.W_OK)
    os.seteuid(NOBODY)
    try:
        return not os.access(path, os.W_OK, effective_ids=True)
    finally:
        os.seteuid(0)


_OUTSIDE: dict[str, Callable[[Place, Pace, Random], None]] = {
    "held lock": hold_lock,
    "checkpoint storm": storm_with_checkpoints,
    "endless reader": read_without_end,
    "auditor": audit,
    "read-only file": forbid_file,
    "closed directory": forbid_directory,
}
