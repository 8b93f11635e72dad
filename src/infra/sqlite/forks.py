"""Forks: no connection may cross one.

SQLite's locks belong to the process. After a fork, new connections of the child to a file
take no locks while an inherited connection to it is open, and two processes can both win.
So, before a fork, every connection of ours is closed, and both sides open new ones when they
need them. Where that is impossible (the fork comes from inside a call, by a signal handler or
the caller's clock, or a call of another thread does not end) the child refuses the file.
Connections to the same file that somebody else opened cannot be helped.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from typing import Protocol
from weakref import WeakSet

from ...domain.errors import StoreUnavailable
from .connection import OpenConnection
from .files import FileIdentity, file_identity


class Forkable(Protocol):
    """What has connections."""

    def drain(self) -> None:
        """Before a fork."""

    def resume(self) -> None:
        """After it, in the parent."""

    def resume_in_child(self) -> None:
        """After it, in the child."""


_watched: WeakSet[Forkable] = WeakSet()
_registry = RLock()
"""Held throughout a fork, so that no other thread begins with new connections meanwhile."""

_refused: set[FileIdentity] = set()


def watch(database: Forkable) -> None:
    """Drain this database around every fork for as long as it lives.

    Also when it is closed: a close from inside a call leaves that call its connection.
    """
    with _registry:
        _watched.add(database)


def inherit(connection: OpenConnection) -> None:
    """Keep, untouched and for good, a connection that could not be closed before the fork.

    To roll back or close it here would write into the memory that it shares with the parent.
    """
    import ctypes

    connection.inherited, connection.usable = True, False
    # One reference too many, so that not even the end of the interpreter closes it.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection.connection))
    if connection.identity is not None:
        _refused.add(connection.identity)


def refuse(path: str) -> None:
    """Refuse the file at ``path`` for the rest of this process's life."""
    identity = file_identity(path)
    if identity is not None:
        _refused.add(identity)


def check(path: str) -> None:
    """See that no connection to the file at ``path`` was inherited.

    :raises StoreUnavailable: if one was.
    """
    if _refused and file_identity(path) in _refused:
        raise StoreUnavailable(
            path, "the process was forked inside a call on this file; start a new process"
        )


def _before() -> None:
    _registry.acquire()
    _each(lambda database: database.drain())


def _after_in_parent() -> None:
    try:
        _each(lambda database: database.resume())
    finally:
        _registry.release()


def _after_in_child() -> None:
    try:
        _each(lambda database: database.resume_in_child())
    finally:
        _registry.release()


def _each(step: Callable[[Forkable], None]) -> None:
    """Do it for every database, whatever becomes of one; Python reports what was raised."""
    errors = []
    for database in list(_watched):
        try:
            step(database)
        except BaseException as error:  # noqa: BLE001 - a signal handler's, say
            errors.append(error)
    if errors:
        raise errors[0]


def _register() -> None:
    register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
    if register is not None:  # there is none where there are no forks
        register(
            before=_before,
            after_in_parent=_after_in_parent,
            after_in_child=_after_in_child,
        )


_register()
