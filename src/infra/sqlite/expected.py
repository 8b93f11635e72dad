"""Which ledger is at a place, and whether it is still the one that was there before."""

from __future__ import annotations

from typing import NamedTuple

from ...domain.errors import StoreUnavailable


class LedgerIdentity(NamedTuple):
    """A ledger that somebody has found."""

    ledger_id: str
    decided: bool
    """Whether it has an event: an empty one may take another identity."""


class ExpectedLedger:
    """What a ledger object knows of the ledger at its place."""

    __slots__ = ("_target", "identity")

    def __init__(self, target: str) -> None:
        self._target = target
        self.identity: LedgerIdentity | None = None
        """The ledger that was there when it was last looked at; None: nobody has looked yet."""

    def check(self, found: LedgerIdentity | None) -> None:
        """See that what has been found is the ledger that was there before, if any was.

        :raises StoreUnavailable: if it is another one.
        """
        known = self.identity
        if known is None or not known.decided or found is None:
            self.identity = found
        elif known.ledger_id != found.ledger_id:
            raise StoreUnavailable(self._target, "another ledger has taken the place of this one")
        elif found.decided:
            self.identity = found

    def mark_decided(self) -> None:
        """It has an event by now."""
        if self.identity is not None and not self.identity.decided:
            self.identity = self.identity._replace(decided=True)

    def forget(self) -> None:
        """It may have another identity from now on."""
        self.identity = None
