"""What is said of a ledger, for the tests of ``LedgerAdmin.examine``."""

from __future__ import annotations

from pathlib import Path

from resolution_ledger import Examination, LedgerAdmin, Observation
from resolution_ledger.infra.health import Subject

LENGTH = 30
"""Events of the ledger that is there."""


def examined(path: Path, *, check: bool = True) -> Examination:
    with LedgerAdmin.open(path) as admin:
        return admin.examine(check=check)


def of(examination: Examination, subject: Subject) -> list[Observation]:
    return [seen for seen in examination.observations if seen.subject == subject]


def warned(path: Path) -> list[tuple[str, str]]:
    """Subject and advice of each warning."""
    return [(seen.subject, str(seen.advice)) for seen in examined(path).warnings]
