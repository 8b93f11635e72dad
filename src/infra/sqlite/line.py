"""How a process comes by the write lock where other processes want it, too.

SQLite's lock has no queue: whoever finds it taken sleeps and guesses, and may starve for seconds.
So those who find it taken line up at the gate, and only the first one in line asks for the lock.
Whoever has come through may write for a moment without lining up again, which spares most
transactions the change of processes; and a process that has met nobody does not line up at all.
"""

from __future__ import annotations

from math import inf
from time import monotonic, sleep

from ...domain.errors import StoreBusy
from .connection import OpenConnection
from .gate import Gate

_QUANTUM = 0.002
"""Seconds that a process may go on writing without lining up again: some ten transactions."""

_LONGEST, _SKIPPED = 1.0, 5.0
"""Seconds to stand in line, and not to stand in line after that was in vain. Everybody then asks
for themselves: whoever is first in line may have been stopped."""

_PAUSE, _LONGEST_PAUSE = 0.0001, 0.02
"""Seconds between two requests for the lock: where it should be free soon, and where others do not
keep to turns."""


class Line:
    """One place in the line. It is used by one thread at a time."""

    def __init__(self, gate: Gate) -> None:
        """Whoever has begun leaves the gate when the transaction has ended."""
        self._gate = gate
        self._free_until = inf
        """Until when this process need not line up."""
        self._stuck_until = 0.0
        """Until when nobody gets through the gate: whoever is first may have been stopped."""

    def begin_at_once(self, connection: OpenConnection) -> bool:
        """Whether the write lock was to be had without waiting, and is."""
        now = monotonic()
        if now > self._free_until and now > self._stuck_until:
            if not self._gate.enter(0):
                return False
            self._free_until = inf  # nobody is in line
        try:
            connection.begin()
        except StoreBusy:
            self._free_until = 0.0
            return False
        return True

    def begin_again(self, connection: OpenConnection, deadline: float) -> None:
        """Take the write lock once more, where nothing has been committed.

        :raises StoreBusy: as :meth:`begin` does.
        """
        if not self.begin_at_once(connection):
            self.begin(connection, deadline)

    def begin(self, connection: OpenConnection, deadline: float) -> None:
        """Take the write lock.

        :raises StoreBusy: if it is not to be had before the deadline.
        """
        now = monotonic()
        if now > self._stuck_until and not self._gate.may_hold:
            left = max(0.0, deadline - now)
            if not self._gate.enter(min(left, _LONGEST)) and left > _LONGEST / 5:
                self._stuck_until = monotonic() + _SKIPPED
        now = monotonic()
        eager = now + 0.7 * _QUANTUM
        pause = _PAUSE
        while True:
            try:
                connection.begin()
            except StoreBusy:
                now = monotonic()
                if now >= deadline:
                    raise
                if now < eager:  # whoever came through before is to have its turn
                    pause = min(2 * pause, eager - now)
                else:
                    pause = min(max(_PAUSE, (now - eager) / 20), _LONGEST_PAUSE)
                sleep(min(pause, deadline - now))
            else:
                break
        self._free_until = monotonic() + _QUANTUM
