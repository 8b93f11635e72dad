"""The ledger without its hash chain: what remains when the chain is taken out of a win.

It reads no head hash, computes none and stores an empty one. Everything else is the package's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from unittest.mock import patch

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    IdempotencyKey,
    InstanceId,
    ResolutionLedger,
    ResolutionRecord,
    ResponseId,
)
from resolution_ledger.infra.chain import Head  # type: ignore[import-not-found, unused-ignore]
from resolution_ledger.infra.database import (  # type: ignore[import-not-found, unused-ignore]
    NewRow,
)
from resolution_ledger.infra.sqlite import (  # type: ignore[import-not-found, unused-ignore]
    connection,
    operator,
    statements,
)

from .contender import Contender, Kind
from .measurements import Durability
from .ours import outcome
from .submissions import WORKSPACE

UNCHAINED = "unchained"

_OPENING = ResolutionRecord(
    InstanceId.mint("opens the connection"), ResponseId.mint("so be it"), IdempotencyKey("k")
)

_HASH = "           hash,\n"
_HEADS = statements.HEADS.replace(_HASH, "")


class UnchainedSession(operator.SQLiteOperatorSession):  # type: ignore[misc, unused-ignore]
    """A session that neither reads nor makes a hash."""

    __slots__ = ()

    def heads(self, stream: str) -> tuple[Head, int | None]:
        """As the package does it, without the hash."""
        rows = self._run(_HEADS, (stream,))
        if not rows:
            return Head(0, b""), None
        ((_, sequence, first),) = rows
        return Head(sequence, b""), first

    def append_event(self, head: Head, row: NewRow) -> Head:
        """As the package does it, without the hash."""
        sequence = head.sequence + 1
        self._insert(statements.APPEND_EVENT, (sequence, *row, b""))
        return Head(sequence, b"")


@contextmanager
def open_unchained(path: Path, durability: Durability) -> Iterator[Contender]:
    """A fresh ledger at ``path``, whose writing connection makes no chain."""
    assert _HASH not in _HEADS
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability=durability) as ledger:
        with patch.object(connection, "SQLiteOperatorSession", UnchainedSession):
            ledger.resolve(_OPENING)
        yield Contender(
            name=UNCHAINED,
            submission=lambda record: record,
            instance=attrgetter("instance"),
            resolve=ledger.resolve,
            winner=ledger.winner,
            outcome=outcome,
        )


UNCHAINED_KIND = Kind(UNCHAINED, open_unchained, shared=True, most=40_000)
