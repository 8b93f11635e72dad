"""Connections for reading: each is lent to one call at a time and kept for the next."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, get_ident

from ...domain.errors import LedgerClosed
from . import forks
from .link import Link


class Readers:
    """As many connections as there are calls at once, opened when they are needed."""

    def __init__(self, target: str, open_link: Callable[[], Link], patience: float) -> None:
        self._target = target
        self._open_link = open_link
        self._patience = patience
        self._closed = False
        self._idle: list[Link] = []
        self._reset()

    def _reset(self) -> None:
        self._changed = Condition()  # guards everything here
        self._draining = False
        self._calls: list[int] = []  # the threads at work with connections from here
        self._lent: list[Link] = []

    def borrow(self) -> Link:
        """A connection for one call.

        :raises LedgerClosed: after :meth:`close`.
        """
        with self._changed:
            while self._draining and not self._closed:
                self._changed.wait()
            if self._closed:
                raise LedgerClosed(self._target, "the ledger was closed")
            self._calls.append(get_ident())
            if self._idle:
                link = self._idle.pop()
                self._lent.append(link)
                return link
        try:
            link = self._open_link()
        except BaseException:
            self._leave()
            raise
        self._lent.append(link)
        return link

    def give_back(self, link: Link) -> None:
        """The call is over."""
        with self._changed:
            self._lent.remove(link)
            if link.usable and not self._closed and not self._draining:
                self._idle.append(link)
                self._calls.remove(get_ident())
                return
        link.close()
        self._leave()

    def close(self) -> None:
        """Refuse new calls, let those in flight end, close every connection."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()  # whoever waits for a fork to end is told, too
        self._close_all()

    def drain(self) -> None:
        """Before a fork: let no call in, let those of other threads end, close the rest."""
        with self._changed:
            self._draining = True
        self._close_all()

    def resume(self) -> None:
        """After a fork, in the parent: let calls in again."""
        with self._changed:
            self._draining = False
            self._changed.notify_all()

    def resume_in_child(self) -> None:
        """After a fork, in the child, where only the thread that forked goes on."""
        for link in self._lent:
            forks.inherit(link)
        calls, lent = [call for call in self._calls if call == get_ident()], self._lent
        self._reset()  # other threads may have held the lock
        self._calls, self._lent = calls, lent

    def drop_idle(self) -> None:
        """Close what nobody uses: for good, or since its file has been replaced."""
        with self._changed:
            idle, self._idle = self._idle, []
            self._calls.append(get_ident())  # a fork has to wait for this, too
        try:
            for link in idle:
                link.close()
        finally:
            self._leave()

    def _close_all(self) -> None:
        me = get_ident()
        with self._changed:
            self._changed.wait_for(
                lambda: all(call == me for call in self._calls), timeout=self._patience
            )
        self.drop_idle()

    def _leave(self) -> None:
        with self._changed:
            self._calls.remove(get_ident())
            self._changed.notify_all()
