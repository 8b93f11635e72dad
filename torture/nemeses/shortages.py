"""No room and no permission, inside a client: what SQLite is told about its own connection."""

from __future__ import annotations

import os
import resource
import signal

from resolution_ledger import StoreUnavailable
from resolution_ledger.infra.sqlite.connection import OpenConnection

from .inside import Inside


class _Shortage(Inside):
    """It counts when a call has failed of it."""

    _short = False

    def after_call(self, error: BaseException | None) -> None:
        """See whether it has taken effect."""
        if self._short and isinstance(error, StoreUnavailable):
            self.strike()


class FullDatabase(_Shortage):
    """The database may not grow beyond its pages."""

    name = "full database"

    def begun(self, connection: OpenConnection) -> None:
        """Allow no further page, for some of the transactions to come."""
        if self._short:
            if self.often(0.1):
                connection.connection.execute("PRAGMA max_page_count = 1000000")
                self._short = False
        elif self.often(0.05):
            connection.connection.execute("PRAGMA max_page_count = 1")  # as many as there are
            self._short = True


class QueryOnly(_Shortage):
    """The writer's connection may not write."""

    name = "query only"

    def begun(self, connection: OpenConnection) -> None:
        """Switch it, for some of the transactions to come."""
        if self._short:
            if self.often(0.3):
                connection.connection.execute("PRAGMA query_only = OFF")
                self._short = False
        elif self.often(0.05):
            connection.connection.execute("PRAGMA query_only = ON")
            self._short = True


class SmallFiles(_Shortage):
    """No file may grow beyond the size of the log: writes fail, some of them half done."""

    name = "small files"

    def arm(self) -> None:
        """A write that is too long fails, and no more."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def committing(self, connection: OpenConnection) -> None:
        """Leave little room, for this commit."""
        del connection
        if not self.often(0.03):
            return
        try:
            size = os.stat(f"{self.place.ledger}-wal").st_size
        except OSError:
            return
        self._short = True
        self._limit(max(1, size - self.random.randint(-6000, 6000)))

    def after_call(self, error: BaseException | None) -> None:
        """There is room again, for what is noted, too."""
        if self._short:
            self._limit(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
            super().after_call(error)
            self._short = False

    def _limit(self, room: int) -> None:
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (room, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
        )
