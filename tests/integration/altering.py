"""Schemas made to say what is not so: tables unlike ours, indexes that lack entries."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from integration.tampering import guards_dropped
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import WORKSPACE, instance, record

EVENTS, WINNERS, LOSING, CLOSED, META = (
    "resolution_events",
    "interaction_resolutions",
    "losing_attempts",
    "closed_instances",
    "resolution_ledger_meta",
)

CONTESTED = 20
"""Events of a contested ledger, see below."""

Opened = tuple[LedgerAdmin, sqlite3.Connection]
"""A ledger, and a connection for damage."""

TRIGGERS = (
    "resolution_events_refuse_update",
    "resolution_events_refuse_delete",
    "resolution_events_refuse_replace",
    "interaction_resolutions_follow_log_on_insert",
    "interaction_resolutions_follow_log_on_update",
)
"""The guards of a ledger."""

ARBITER = ",\n        UNIQUE (originator_id, originator_version)"
"""The unique key of the log, as its table's text has it."""


def make_contested(path: Path, instances: int = 6) -> None:
    """A ledger in which response 0 has won each instance, and responses 1 and 2 have lost it.

    Two more were closed before anybody answered.
    """
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as ledger:
        for i in range(instances):
            for r in range(3):
                ledger.resolve(record(i, r, 10 * i + r))
        for i in (instances, instances + 1):
            ledger.withdraw(instance(i), "expired")


def text_of(connection: sqlite3.Connection, name: str) -> str:
    """The statement that made a part of the schema."""
    ((text,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,))
    return str(text)


@contextmanager
def schema_open(connection: sqlite3.Connection) -> Iterator[None]:
    """In here the schema can be written like a table; afterwards everybody reads it again."""
    connection.execute("PRAGMA writable_schema = ON")
    yield
    ((version,),) = connection.execute("PRAGMA schema_version")
    connection.execute(f"PRAGMA schema_version = {version + 1}")
    connection.execute("PRAGMA writable_schema = RESET")


def pretend(connection: sqlite3.Connection, name: str, text: str) -> None:
    """Let the schema say of a part what it is not made by."""
    with schema_open(connection):
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (text, name))


def empty_index(connection: sqlite3.Connection, name: str, never: str) -> None:
    """Take all entries out of an index, whose text stays what it was.

    :param never: a condition behind the text that no row meets.
    """
    text = text_of(connection, name)
    connection.execute(f"DROP INDEX {name}")
    connection.execute(f"{text} {never}")
    pretend(connection, name, text)


@contextmanager
def arbiter_blind(connection: sqlite3.Connection) -> Iterator[None]:
    """In here the log has no guards, and what is written does not get into its unique key."""
    text = text_of(connection, EVENTS)
    assert ARBITER in text
    columns = "type, name, tbl_name, rootpage, sql"
    ((*key,),) = connection.execute(
        f"SELECT {columns} FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_resolution_ev%'"  # noqa: S608
    )
    with guards_dropped(connection):
        with schema_open(connection):
            connection.execute("DELETE FROM sqlite_master WHERE name = ?", (key[1],))
            connection.execute(
                "UPDATE sqlite_master SET sql = ? WHERE name = ?",
                (text.replace(ARBITER, ""), EVENTS),
            )
        yield
        with schema_open(connection):
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (text, EVENTS))
            connection.execute(f"INSERT INTO sqlite_master ({columns}) VALUES (?, ?, ?, ?, ?)", key)  # noqa: S608


def hide_from_arbiter(connection: sqlite3.Connection, stream: str) -> None:
    """Take the events of a stream out of the unique key of the log; they stay in the log."""
    with guards_dropped(connection):
        events = connection.execute(
            "SELECT * FROM resolution_events WHERE originator_id = ?", (stream,)
        ).fetchall()
        connection.execute("DELETE FROM resolution_events WHERE originator_id = ?", (stream,))
    with arbiter_blind(connection):
        connection.executemany("INSERT INTO resolution_events VALUES (?, ?, ?, ?, ?, ?, ?)", events)


def remake(connection: sqlite3.Connection, table: str, alter: Callable[[str], str]) -> None:
    """Make a table by another text, with the same rows, indexes and guards."""
    text = text_of(connection, table)
    altered = alter(text)
    assert altered != text
    indexes = connection.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
        (table,),
    ).fetchall()
    with guards_dropped(connection):
        connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table}")  # noqa: S608
        connection.execute(f"DROP TABLE {table}")
        connection.execute(altered)
        connection.execute(f"INSERT INTO {table} SELECT * FROM temp.kept")  # noqa: S608
        connection.execute("DROP TABLE temp.kept")
        for (index,) in indexes:
            connection.execute(index)


# Workers


def verify_in_memory_of_its_own(_: Barrier, path: str) -> tuple[int, int]:
    """How much is wrong with a ledger, and how many KiB finding it out took at most."""
    with LedgerAdmin.open(path) as admin:
        count = admin.verify().count
    # Not the resource module: its peak is that of the parent, too.
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return count, int(peak)


def import_from(_: Barrier, export: str, path: str) -> str:
    """Import an export from a file; the checkpoint of its end."""
    with LedgerAdmin.open(path) as admin, open(export, "rb") as file:
        return admin.import_(file)


def import_and_die(export: str, path: str) -> None:
    """Import, and be killed where the ledger has its name and its provisional one."""
    link = os.link

    def link_and_die(*names: Any) -> None:
        link(*names)
        os.kill(os.getpid(), signal.SIGKILL)

    os.link = link_and_die  # type: ignore[assignment]
    with LedgerAdmin.open(path) as admin, open(export, "rb") as file:
        admin.import_(file)
