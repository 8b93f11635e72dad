"""Opening one connection to a ledger: settings, journal mode, creation, migration."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Literal, TypeVar

from ...domain.errors import NotALedger, StoreUnavailable
from ..database import Durability
from . import gate, statements, wal
from .errors import DATABASE_ERRORS, primary_code, store_error
from .expected import LedgerIdentity
from .files import (
    FileIdentity,
    check_beside,
    check_not_one_byte,
    check_nothing_left,
    database_uri,
    file_identity,
)
from .recognition import bring_up_to_date, check_encoding, version_of
from .schema import MIGRATIONS

_SETTINGS: dict[Durability, tuple[str, ...]] = {
    # A Won that the caller acted on survives a power cut. (fullfsync: macOS only.)
    "full": ("PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON"),
    # Commits survive a crash of the process; a power cut may take the newest ones back.
    "normal": ("PRAGMA synchronous = NORMAL",),
}
_WITHOUT_WAL: dict[Durability, str] = {
    # There a commit is the removal of the rollback journal. FULL leaves it to the file system when
    # the removal lasts, so that a power cut may bring the journal back, which undoes the commit.
    "full": "PRAGMA synchronous = EXTRA",
    "normal": "",
}
_STATEMENTS_KEPT_PREPARED = 64

T = TypeVar("T")


def open_file(  # noqa: PLR0913 - each is a decision of the caller's
    path: str,
    durability: Durability,
    timeout: float,
    *,
    create: bool,
    write: bool,
    incomplete: bool = False,
) -> tuple[sqlite3.Connection, FileIdentity, LedgerIdentity]:
    """Connect to the ledger at ``path``, creating or migrating it where it is to be written.

    Returns the connection, which waits for others up to ``timeout`` seconds, the file it is
    to, and which ledger it is.

    :param incomplete: open a ledger without its read models, too.
    """
    deadline = monotonic() + timeout

    def prepare(connection: sqlite3.Connection) -> LedgerIdentity:
        version = _version(connection, path, create=create, incomplete=incomplete)
        if write:
            _use_wal(connection, path, deadline)
            connection.executescript(wal.SETTINGS)
            _make_newest(connection, path, version, create=create, incomplete=incomplete)
        (ledger_id,) = connection.execute(statements.LEDGER_ID).fetchone()
        event = connection.execute("SELECT 1 FROM resolution_events LIMIT 1").fetchone()
        return LedgerIdentity(str(ledger_id), event is not None)

    return _open(path, durability, timeout, create=create, prepare=prepare)


def open_bare(
    path: str, durability: Durability, timeout: float, *, create: bool
) -> tuple[sqlite3.Connection, FileIdentity]:
    """Connect to what is at ``path``, whatever it is, for establishing a ledger there."""
    connection, identity, _ = _open(
        path,
        durability,
        timeout,
        create=create,
        prepare=lambda connection: connection.executescript(
            f"{wal.SETTINGS}; {_WITHOUT_WAL[durability]}"
        ),
    )
    return connection, identity


def _open(
    path: str,
    durability: Durability,
    timeout: float,
    *,
    create: bool,
    prepare: Callable[[sqlite3.Connection], T],
) -> tuple[sqlite3.Connection, FileIdentity, T]:
    """Connect to the file at ``path``, and see that it is the same one afterwards."""
    place = os.path.realpath(path)
    if place.endswith(gate.SUFFIX):
        raise StoreUnavailable(path, f"{gate.SUFFIX} ends the name of another ledger's gate")
    before = file_identity(path)
    if before is None and not create:
        raise StoreUnavailable(path, "there is no such file")
    check_nothing_left(path, place)
    if before is None:
        # Made first, and then opened: or nobody could tell whether it is the one at the path when
        # all is prepared, which may take as long as others have it locked.
        _connect(database_uri(path, create=True), timeout, path).close()
        before = file_identity(path)
    check_not_one_byte(path)
    check_beside(place)
    connection = _connect(database_uri(path, create=create), timeout, path)
    try:
        for setting in _SETTINGS[durability]:
            connection.execute(setting)
        prepared = prepare(connection)
        identity = file_identity(path)
        if identity is None or identity != before:
            raise StoreUnavailable(path, "the file was replaced while it was being opened")
        return connection, identity, prepared
    except BaseException as error:
        connection.close()
        if isinstance(error, DATABASE_ERRORS):
            raise store_error(error, path) from error
        raise


def open_memory() -> sqlite3.Connection:
    """A new, empty ledger in memory."""
    connection = _connect(":memory:", 0, ":memory:")
    _make_newest(connection, ":memory:", 0, create=True, incomplete=False)
    return connection


def _connect(database: str, timeout: float, target: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            database,
            uri=True,
            timeout=timeout,
            isolation_level=None,  # transactions begin where we say, and as we say
            check_same_thread=False,  # their keepers lend them to one thread at a time
            cached_statements=_STATEMENTS_KEPT_PREPARED,
        )
    except DATABASE_ERRORS as error:
        raise store_error(error, target) from error


def _version(connection: sqlite3.Connection, target: str, *, create: bool, incomplete: bool) -> int:
    """The schema version, seen in one piece: another process may be migrating meanwhile."""
    with _transaction(connection, "DEFERRED"):
        version = version_of(connection, target, incomplete=incomplete)
        if version == 0 and not create:
            raise NotALedger(target, "it is a database without a ledger")
        check_encoding(connection, target)
    return version


def _make_newest(
    connection: sqlite3.Connection, target: str, version: int, *, create: bool, incomplete: bool
) -> None:
    """See that the schema is the newest one."""
    if version == len(MIGRATIONS):
        return
    with _transaction(connection, "IMMEDIATE"):
        # Several processes may come here at once: look again under the write lock.
        version = version_of(connection, target, incomplete=incomplete)
        if version == 0 and not create:
            raise NotALedger(target, "the ledger has gone")
        bring_up_to_date(connection, target, version)


@contextmanager
def _transaction(
    connection: sqlite3.Connection, kind: Literal["DEFERRED", "IMMEDIATE"]
) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except GeneratorExit:  # a signal handler raised before the block began; all is closed by now
        raise
    except BaseException:
        if connection.in_transaction:  # a trigger may have rolled it back already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _use_wal(connection: sqlite3.Connection, target: str, deadline: float) -> None:
    """Put the file into WAL mode, in which it then stays."""
    wait = 0.001
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            # Changing the mode needs the file alone, and SQLite does not wait for that.
            if primary_code(error) != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
            sleep(wait)
            wait = min(wait * 2, 0.05)
            continue
        if mode != "wal":
            raise StoreUnavailable(target, f"it cannot be put into WAL mode, only {mode!r}")
        return
