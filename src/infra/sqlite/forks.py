"""Forks: no connection may cross one.

SQLite's locks belong to the process. After a fork, new connections of the child to a file
take no locks while an inherited connection to it is open, and two processes can both win.
So, before a fork, every connection of ours is closed, and both sides open new ones when they
need them. Connections to the same file that somebody else opened cannot be helped.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakSet

from ...domain.errors import StoreUnavailable
from .files import FileIdentity, file_identity

if TYPE_CHECKING:
    from .connections import Connections
    from .link import Link

_watched: WeakSet[Connections] = WeakSet()
_registry = RLock()
"""Held throughout a fork, so that no other thread begins with new connections meanwhile."""

_inherited: dict[FileIdentity, list[Link]] = {}


def watch(connections: Connections) -> None:
    """Drain these connections around every fork from now on."""
    with _registry:
        _watched.add(connections)


def forget(connections: Connections) -> None:
    """They are closed: nothing to drain any more."""
    with _registry:
        _watched.discard(connections)


def inherit(link: Link) -> None:
    """Keep, untouched and for good, a connection that was in use by the thread that forked.

    To roll back or close it here would write into the memory that it shares with the parent.
    """
    import ctypes

    link.forked, link.usable = True, False
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(link.connection))  # not even closed at exit
    if link.identity is not None:
        _inherited.setdefault(link.identity, []).append(link)


def refuse_inherited(path: str) -> None:
    """Refuse a file that this process has an inherited connection to.

    :raises StoreUnavailable: for the rest of the process's life.
    """
    if _inherited and file_identity(path) in _inherited:
        raise StoreUnavailable(
            path, "the process was forked inside a call on this file; start a new process"
        )


def _before() -> None:
    _registry.acquire()
    for connections in list(_watched):
        connections.drain()


def _after_in_parent() -> None:
    for connections in list(_watched):
        connections.resume()
    _registry.release()


def _after_in_child() -> None:
    for connections in list(_watched):
        connections.resume_in_child()
    _registry.release()


def _register() -> None:
    register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
    if register is not None:  # there is none where there are no forks
        register(
            before=_before,
            after_in_parent=_after_in_parent,
            after_in_child=_after_in_child,
        )


_register()
