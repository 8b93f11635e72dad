"""What the leader does: its own call and those of all who wait, in one transaction.

It takes the write lock, does its own work and that of all who wait by then, commits once, and tells
each what came of it. So a commit, which is what takes long, serves as many as there are.

A signal handler may raise at any point of the main thread. So the main thread, when it leads, does
its own work alone: what is raised is its own then, and nobody else's fate hangs on it.
"""

from __future__ import annotations

from copy import copy
from threading import get_ident, main_thread
from time import monotonic
from typing import Any, TypeVar

from ...domain.errors import StoreError, StoreUnavailable
from .calls import Call, Waiting
from .connection import OpenConnection
from .line import Line

T = TypeVar("T")

_MOST = 64
"""Calls in a transaction: others, in other processes, want to write, too."""


def lead(
    connection: OpenConnection, line: Line, waiting: Waiting, own: Call[T], deadline: float
) -> T:
    """What comes of the own call. Whatever is raised, the caller rolls back.

    :raises StoreBusy: if the write lock is not to be had before the deadline.
    """
    if not line.begin_at_once(connection):
        if own.shortcut is not None and monotonic() < deadline:
            found = own.shortcut()
            if found is not None:
                return found
        line.begin(connection, deadline)
    if connection.wal is not None and connection.wal.is_long(large=own.alone):
        connection.copy_wal_back()
        line.begin_again(connection, deadline)
    if connection.ledger is not None and not connection.ledger.decided:
        connection.refresh_identity()
    if waiting.calls and not own.alone and get_ident() != main_thread().ident:
        return _together(connection, line, waiting, own, deadline)
    result = own.work(connection)
    connection.commit()
    return result


def _together(
    connection: OpenConnection, line: Line, waiting: Waiting, own: Call[T], deadline: float
) -> T:
    """Do the own call and those that wait, and commit them at once."""
    taken = waiting.take(_MOST - 1)
    committing = committed = False
    try:
        result = own.work(connection)
        done: list[tuple[Call[Any], Any]] = []
        for call in taken:
            try:
                done.append((call, call.work(connection)))
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is that call's
                # What it has done goes, and all else with it: that is done again, without it.
                connection.roll_back()
                call.fail(error)
                taken.remove(call)
                waiting.put_back(taken)
                taken, done = [], []
                line.begin_again(connection, deadline)
                result = own.work(connection)
                break
        committing = True
        try:
            connection.commit()
        except StoreError as error:
            for call in taken:
                call.fail(copy(error))
            raise
        committed = True
        for call, its_result in done:
            call.succeed(its_result)
        return result
    except BaseException:
        if committed:
            for call, its_result in done:
                if not call.ended():
                    call.succeed(its_result)
        _leave_to_others(connection, waiting, taken, committing=committing)
        raise


def _leave_to_others(
    connection: OpenConnection, waiting: Waiting, taken: list[Call[Any]], *, committing: bool
) -> None:
    """Another thread may have raised in the leader, at any point: have the rest done by others.

    Not what may be committed: whoever has won would be told of a replay, and nobody of a win.
    """
    rest = [call for call in taken if not call.ended()]
    if not committing or connection.connection.in_transaction:
        waiting.put_back(rest)
        return
    for call in rest:
        reason = "whoever was committing this was interrupted"
        call.fail(StoreUnavailable(connection.target, reason, outcome_unknown=True))
