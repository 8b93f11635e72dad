"""Opening one connection to a ledger: settings, journal mode, creation, migration."""

from __future__ import annotations

import sqlite3
from time import monotonic, sleep
from typing import Literal

from ...domain.errors import NotALedger, StoreUnavailable
from .errors import primary_code, store_error
from .files import FileIdentity, database_uri, file_identity
from .schema import MIGRATIONS, migrate, version_of

Durability = Literal["full", "normal"]

_SETTINGS: dict[Durability, tuple[str, ...]] = {
    # A Won that the caller acted on survives a power cut. (fullfsync: macOS only.)
    "full": ("PRAGMA synchronous = FULL", "PRAGMA fullfsync = ON"),
    # Commits survive a crash of the process; a power cut may take the newest ones back.
    "normal": ("PRAGMA synchronous = NORMAL",),
}
_STATEMENTS_KEPT_PREPARED = 64


def open_file(
    path: str, durability: Durability, lock_timeout: float, *, create: bool
) -> tuple[sqlite3.Connection, FileIdentity, str]:
    """Connect to the ledger at ``path``, creating or migrating it where that is due.

    Returns the connection, the file it is to, and the ledger's identity.
    """
    deadline = monotonic() + lock_timeout
    before = file_identity(path)
    if before is None and not create:
        raise StoreUnavailable(path, "there is no such file")
    connection = _connect(database_uri(path, create=create), lock_timeout, path)
    try:
        for setting in _SETTINGS[durability]:
            connection.execute(setting)
        ledger_id = _prepare(connection, path, deadline, create=create, wal=True)
        identity = file_identity(path)
        if identity is None or (before is not None and identity != before):
            raise StoreUnavailable(path, "the file was replaced while it was being opened")
        return connection, identity, ledger_id
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise store_error(error, path) from error
        raise


def open_memory() -> sqlite3.Connection:
    """A new, empty ledger in memory."""
    connection = _connect(":memory:", 0, ":memory:")
    _prepare(connection, ":memory:", monotonic(), create=True, wal=False)
    return connection


def _connect(database: str, lock_timeout: float, target: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            database,
            uri=True,
            timeout=lock_timeout,
            isolation_level=None,  # transactions begin where we say, and as we say
            check_same_thread=False,  # the pool lends a connection to one thread at a time
            cached_statements=_STATEMENTS_KEPT_PREPARED,
        )
    except sqlite3.Error as error:
        raise store_error(error, target) from error


def _prepare(
    connection: sqlite3.Connection, target: str, deadline: float, *, create: bool, wal: bool
) -> str:
    """See that the ledger is there, in the newest schema, and return its identity."""
    version = version_of(connection, target)
    if version == 0 and not create:
        raise NotALedger(target, "it is a database without a ledger")
    if version < len(MIGRATIONS):
        if wal:
            _use_wal(connection, target, deadline)
        # Several processes may come here at once: look again under the write lock.
        connection.execute("BEGIN IMMEDIATE")
        try:
            migrate(connection, version_of(connection, target))
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    elif wal and create:
        _use_wal(connection, target, deadline)
    row = connection.execute("SELECT ledger_id FROM resolution_ledger_meta").fetchone()
    return str(row[0])


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
