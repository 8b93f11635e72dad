"""Adoption: a one-row table of winners becomes the read model of a log that explains it.

Explicit, and once: an older table means that somebody has decided already, and a ledger that
began beside it without its history would decide the same questions again.
"""

from __future__ import annotations

from ..domain.errors import CannotAdopt, ResolutionError
from ..domain.events import Attempt, ResolutionAdopted, check_tick
from ..domain.ids import InstanceId, ResponseId
from ..domain.text import IdempotencyKey, check_text
from ..projections.read_models import Row
from .database import Database, OperatorSession
from .log import append_alone

LISTED = 1000
"""Rows that cannot be adopted: how many of them an error tells."""


def adopt(database: Database) -> int:
    """Take over the winners that are there; return how many.

    In one transaction: an older program decides before it or is refused after it. The table
    itself stays as it is, and with it whatever others have built upon it.

    :raises NothingToAdopt: if there is no such table.
    :raises CannotAdopt: listing rows that no ledger could hold; nothing was changed.
    """

    def take_over(session: OperatorSession) -> int:
        session.establish(adopting=True)
        head = session.head()
        faulty: list[tuple[str, str]] = []
        for row in session.winners_by_tick():
            try:
                instance, event = _adopted(row)
            except ResolutionError as error:
                if len(faulty) < LISTED:
                    faulty.append((str(row[0]), str(error)))
                continue
            if not faulty:
                head = append_alone(session, head, instance, 1, event)
        if faulty:
            raise CannotAdopt(session.target, tuple(faulty))
        return head.sequence

    return database.establish(take_over, create=False)


def _adopted(row: Row) -> tuple[InstanceId, ResolutionAdopted]:
    instance, workspace, response, key, tick = row
    attempt = Attempt(
        check_text("workspace", workspace),
        ResponseId(response),  # type: ignore[arg-type]  # whatever an older program has stored
        IdempotencyKey(key),  # type: ignore[arg-type]
        "",
    )
    return InstanceId(instance), ResolutionAdopted(attempt, check_tick(tick))  # type: ignore[arg-type]
