"""The connection that writes: the threads of a process take turns on it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, get_ident
from time import monotonic

from ...domain.errors import LedgerClosed, StoreBusy
from . import forks
from .errors import DATABASE_ERRORS, store_error
from .link import Link


class Writer:
    """One connection, opened when it is first needed, and the lock around it."""

    def __init__(
        self,
        target: str,
        open_link: Callable[[], Link],
        lock_timeout: float,
        patience: float,
    ) -> None:
        self._target = target
        self._open_link = open_link
        self._lock_timeout = lock_timeout
        self._patience = patience
        self._closed = False
        self._link: Link | None = None
        self._turn = Lock()
        self._turn_of = 0
        """The thread whose turn it is, 0 for none."""

    def begin(self, *, wait: bool) -> Link:
        """Take the turn and begin a write transaction.

        :raises StoreBusy: if that is not possible within ``lock_timeout``, or at once.
        """
        began = monotonic() if wait else 0.0
        link = self.take_turn(wait=wait)
        try:
            # Immediate: a deferred transaction that reads first fails at once when another
            # writer commits in between, whatever the timeout.
            if wait:
                self._begin_patiently(link, began)
            else:
                link.execute("BEGIN IMMEDIATE")
            link.check_file()
        except BaseException as error:
            self.end(link)
            if isinstance(error, DATABASE_ERRORS):
                raise store_error(error, self._target) from error
            raise
        return link

    def end(self, link: Link) -> None:
        """Roll back what was not committed, and give the turn to the next."""
        try:
            link.roll_back()
            if not link.usable:
                self._link = None
                link.close()
        finally:
            self.give_turn()

    def take_turn(self, *, wait: bool) -> Link:
        """The connection, for this thread alone until :meth:`give_turn`.

        :raises StoreBusy: if another thread has it, for longer than ``lock_timeout`` or at all.
        :raises LedgerClosed: after :meth:`close`.
        """
        if not self._turn.acquire(timeout=self._lock_timeout if wait else 0):
            raise StoreBusy(self._target, "another thread of this process is writing")
        self._turn_of = get_ident()
        try:
            if self._closed:
                raise LedgerClosed(self._target, "the ledger was closed")
            link = self._link
            if link is None:
                link = self._link = self._open_link()
            return link
        except BaseException:
            self.give_turn()
            raise

    def give_turn(self) -> None:
        """Let the next thread have the connection."""
        self._turn_of = 0
        self._turn.release()

    def close(self) -> None:
        """Refuse new calls, let the one in flight end, close the connection."""
        self._closed = True
        if self.drain():
            self.resume()

    def drain(self, *, close: bool = True) -> bool:
        """Before a fork: let another thread's call end, close the connection, keep the turn.

        False if the call that goes on is this thread's own, or does not end.
        """
        if self._turn_of == get_ident() or not self._turn.acquire(timeout=self._patience):
            return False
        if close and self._link is not None:
            link, self._link = self._link, None
            link.close()
        return True

    def resume(self) -> None:
        """Give back the turn that :meth:`drain` took."""
        self._turn.release()

    def resume_in_child(self, *, drained: bool) -> None:
        """After a fork, in the child, where only the thread that forked goes on."""
        if self._link is not None:
            forks.inherit(self._link)  # in use: by this thread, or by one that is not here
            self._link = None
        if drained or self._turn_of != get_ident():
            self._turn, self._turn_of = Lock(), 0

    def _begin_patiently(self, link: Link, began: float) -> None:
        # The timeout of the call is for both: for the turn, and for other processes.
        left = self._lock_timeout - (monotonic() - began)
        link.set_timeout(max(0.0, left))
        try:
            link.execute("BEGIN IMMEDIATE")
        finally:
            link.set_timeout(0)
