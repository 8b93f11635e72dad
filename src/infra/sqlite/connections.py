"""The connections of one ledger object: lent to one thread at a time, kept for the next.

One thread of the process writes at a time; which process writes, SQLite decides.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock, get_ident
from time import monotonic

from ...domain.errors import LedgerClosed, StoreBusy, StoreUnavailable
from . import forks
from .errors import store_error
from .files import file_identity
from .link import Link
from .opening import Durability, open_file, open_memory
from .session import SQLiteSession

_PATIENCE = 10.0
"""Seconds beyond ``lock_timeout`` that a fork or close waits for calls in flight."""


class Connections:
    """The connections to the ledger in a file: the ``Database`` of this dialect."""

    def __init__(self, path: str, durability: Durability, lock_timeout: float) -> None:
        self.target = path
        self._durability = durability
        self._lock_timeout = lock_timeout
        self._ledger_id: str | None = None
        self._idle: list[Link] = []
        self._closed = False
        self._make_locks()
        forks.watch(self)

    def _make_locks(self) -> None:
        self._turn = Lock()  # held by the thread that writes
        self._changed = Condition()  # guards all that follows, _idle and _closed
        self._busy: list[int] = []  # the thread of each call in flight
        self._lent: list[Link] = []
        self._draining = False

    @contextmanager
    def reading(self) -> Iterator[SQLiteSession]:
        """A session that takes no write lock and never creates a ledger.

        :raises StoreUnavailable: if there is no such file.
        :raises NotALedger: if the file holds no ledger.
        """
        with self.reading_link() as link:
            yield link.session

    @contextmanager
    def reading_link(self) -> Iterator[Link]:
        """The same, for whoever needs the connection itself."""
        link = self._borrow(create=False)
        try:
            self._check_still_here(link)
            yield link
        except sqlite3.Error as error:
            raise store_error(error, self.target) from error
        finally:
            self._give_back(link)

    @contextmanager
    def writing(self) -> Iterator[SQLiteSession]:
        """A session inside one write transaction: committed at the end, or not at all.

        :raises StoreBusy: if others hold the write lock for longer than ``lock_timeout``.
        """
        with self.transaction() as link:
            yield link.session

    @contextmanager
    def transaction(self) -> Iterator[Link]:
        """The same, for whoever needs the connection itself."""
        with self._my_turn() as time_left:
            link = self._borrow(create=True)
            try:
                link.begin(time_left)
                self._check_still_here(link)
                yield link
                link.commit()
            except sqlite3.Error as error:
                raise store_error(error, self.target) from error
            finally:
                link.roll_back()  # does nothing after a commit
                self._give_back(link)

    @contextmanager
    def _my_turn(self) -> Iterator[float]:
        """Exclude the other threads; gives the seconds that are left to wait for the file."""
        began = monotonic()
        turn = self._turn  # a fork in between gives the child another
        if not turn.acquire(timeout=self._lock_timeout):
            raise StoreBusy(self.target, "another thread of this process is writing")
        try:
            yield max(0.0, self._lock_timeout - (monotonic() - began))
        finally:
            turn.release()

    def close(self) -> None:
        """Refuse new calls, let those in flight finish, close every connection."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()  # whoever waits for a fork to end is told, too
            self._wait_for_others()
            idle, self._idle = self._idle, []
        for link in idle:
            link.close()
        forks.forget(self)

    # What a ledger in memory does otherwise

    def _open(self, *, create: bool) -> Link:
        # Once a ledger was here, its absence is a fault: a new one would forget who has won.
        create = create and self._ledger_id is None
        forks.refuse_inherited(self.target)
        connection, identity, ledger_id = open_file(
            self.target, self._durability, self._lock_timeout, create=create
        )
        if self._ledger_id not in (None, ledger_id):
            connection.close()
            raise StoreUnavailable(self.target, "another ledger has taken the place of this one")
        self._ledger_id = ledger_id
        return Link(connection, self.target, identity, self._lock_timeout)

    def _check_still_here(self, link: Link) -> None:
        """Refuse to go on with a file that is no longer the one at our path.

        SQLite would go on with an unlinked file, and what it acknowledged would be lost.
        """
        if link.identity == file_identity(self.target):
            return
        link.usable = False
        with self._changed:
            gone, self._idle = self._idle, []
        for other in gone:
            other.close()
        raise StoreUnavailable(self.target, "the file was moved, removed or replaced")

    # Lending

    def _borrow(self, *, create: bool) -> Link:
        with self._changed:
            while self._draining and not self._closed:
                self._changed.wait()
            self._refuse_if_closed()
            self._busy.append(get_ident())
            if self._idle:
                link = self._idle.pop()
                self._lent.append(link)
                return link
        try:
            link = self._open(create=create)
        except BaseException:
            self._leave()
            raise
        self._lent.append(link)
        return link

    def _give_back(self, link: Link) -> None:
        with self._changed:
            self._lent.remove(link)
            if link.usable and not self._closed and not self._draining:
                self._idle.append(link)
                self._busy.remove(get_ident())
                return
        link.close()
        self._leave()

    def _leave(self) -> None:
        with self._changed:
            self._busy.remove(get_ident())
            self._changed.notify_all()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise LedgerClosed(self.target, "the ledger was closed")

    def _wait_for_others(self) -> None:
        """Until no other thread is inside a call. To be called with _changed held."""
        me = get_ident()
        self._changed.wait_for(
            lambda: all(thread == me for thread in self._busy),
            # A call ends within lock_timeout and little more. What has not ended by then is
            # stuck in the caller's clock: a fork treats its connection as inherited.
            timeout=self._lock_timeout + _PATIENCE,
        )

    # Around a fork (see forks.py)

    def drain(self) -> None:
        """Let no call in, wait for those of other threads, and close what is idle."""
        with self._changed:
            self._draining = True
            self._wait_for_others()
            idle, self._idle = self._idle, []
        for link in idle:
            link.close()

    def resume(self) -> None:
        """In the parent: let calls in again."""
        with self._changed:
            self._draining = False
            self._changed.notify_all()

    def resume_in_child(self) -> None:
        """In the child, where only the thread that forked goes on."""
        # Only a fork from inside a call (a signal handler, the clock) leaves something here,
        # or one that has waited in vain for another thread.
        for link in self._lent:
            forks.inherit(link)
        busy, lent = self._busy, self._lent
        self._make_locks()  # other threads may have held them
        self._busy, self._lent = busy, lent


class MemoryConnections(Connections):
    """A ledger in memory: one connection, and whoever uses it has it alone."""

    def __init__(self, lock_timeout: float) -> None:
        super().__init__(":memory:", "normal", lock_timeout)
        self._idle.append(Link(open_memory(), self.target, None, lock_timeout))

    @contextmanager
    def reading_link(self) -> Iterator[Link]:
        """As for a file, but it waits for its turn."""
        with self._my_turn(), super().reading_link() as link:
            yield link

    def _open(self, *, create: bool) -> Link:  # noqa: ARG002 - as for a file
        raise StoreUnavailable(self.target, "a ledger in memory stays in its own process")

    def _check_still_here(self, link: Link) -> None:
        pass

    def drain(self) -> None:
        """The one connection stays open: it is the ledger."""
        with self._changed:
            self._draining = True
            self._wait_for_others()

    def resume_in_child(self) -> None:
        """A copy that decides beside the original would name second winners: refuse it."""
        super().resume_in_child()
        self._idle.clear()


def connections_to(target: str, *, durability: Durability, lock_timeout: float) -> Connections:
    """Connections to the ledger at a path, or to a new one in ``":memory:"``."""
    if target == ":memory:":
        return MemoryConnections(lock_timeout)
    # Absolute, so that the ledger stays the same when the process changes its directory.
    return Connections(os.path.abspath(target), durability, lock_timeout)
