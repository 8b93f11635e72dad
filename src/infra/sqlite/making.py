"""Making a ledger of what is at a path, whatever that is, in one write transaction."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from ..database import Durability
from . import forks, gate
from .calls import Client
from .connection import OpenConnection
from .files import UNFINISHED, check_nothing_left, move_into_place
from .opening import open_bare
from .operator import SQLiteOperatorSession
from .writer import PATIENCE, Writer

T = TypeVar("T")
Work = Callable[[SQLiteOperatorSession], T]


def make(path: str, durability: Durability, lock_timeout: float, work: Work[T]) -> T:
    """What ``work`` returns, which makes it in a file that gets its name once it is whole."""
    place = os.path.realpath(path)
    check_nothing_left(place, place)
    aside = f"{place}{UNFINISHED}{secrets.token_hex(8)}"
    try:
        with closing(_BareFile(aside, durability, lock_timeout, create=True)) as file:
            made = file.write(work)
    except BaseException:
        _remove(aside, f"{aside}-journal")
        raise
    finally:
        _remove(aside + gate.SUFFIX)
    move_into_place(aside, place)
    return made


def _remove(*leftovers: str) -> None:
    for leftover in leftovers:
        if os.path.exists(leftover):
            os.remove(leftover)


def make_in(path: str, durability: Durability, lock_timeout: float, work: Work[T]) -> T:
    """What ``work`` returns, which makes the ledger in the database that is there."""
    with closing(_BareFile(path, durability, lock_timeout, create=False)) as file:
        return file.write(work)


class _BareFile(Client):
    """A database, for one write."""

    def __init__(
        self, path: str, durability: Durability, lock_timeout: float, *, create: bool
    ) -> None:
        super().__init__(path, lock_timeout)
        self._durability: Durability = durability
        self._create = create
        self._writer = Writer(path)

    def write(self, work: Work[T]) -> T:
        """What ``work`` returns, given a session inside a write transaction."""

        def patiently(session: SQLiteOperatorSession) -> T:
            # Without a write-ahead log the commit, too, has to wait: for those who read.
            session.wait_for_others(self.lock_timeout)
            return work(session)

        return self._writer.call(self, patiently)

    def open_writer(self, timeout: float) -> OpenConnection:
        """A connection to whatever is there."""
        forks.check(self.target)
        bare, identity = open_bare(self.target, self._durability, timeout, create=self._create)
        return OpenConnection(bare, self.target, identity).set_up(0)

    def close(self) -> None:
        """Close its connection."""
        self.closed = True
        self._writer.leave(self, self.lock_timeout + PATIENCE)
