"""The command line, arranged for tests.

An export halts after its first event and says so, to be interrupted there; and nothing waits
for others longer than a tenth of a second.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from time import sleep
from typing import Self

from processes import PATIENCE
from resolution_ledger import LedgerAdmin
from resolution_ledger.__main__ import main
from resolution_ledger.commands import settings
from resolution_ledger.infra import runs, transfer
from resolution_ledger.infra.database import Database
from resolution_ledger.infra.rows import LogRow

HALF_WAY = b"half way\n"


class _Impatient(LedgerAdmin):
    @classmethod
    def open(cls, target: str | os.PathLike[str], *, lock_timeout: float = 0.1) -> Self:
        return super().open(target, lock_timeout=lock_timeout)


def _half(database: Database, upto: int) -> Iterator[list[LogRow]]:
    yield next(runs.log_pages(database, upto, page=1))
    sys.stderr.buffer.write(HALF_WAY)
    sys.stderr.flush()
    sleep(PATIENCE)


if __name__ == "__main__":
    transfer.ordered_log_pages = _half  # type: ignore[assignment]
    settings.LedgerAdmin = _Impatient  # type: ignore[misc]
    sys.exit(main())
