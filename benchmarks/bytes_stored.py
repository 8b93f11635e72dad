"""How large the files become."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .big_ledger import Records, build, mixed, wins
from .ordinary import ORDINARY, fill_ordinary
from .ours import OURS
from .plain import PLAIN, fill
from .plan import Measure, Plan
from .results import Figure, Results

PART = "bytes"
WINS, MIX = "an attempt, wins only", "an attempt, half of them losing"


def stored(what: str, contender: str) -> Figure:
    """Bytes of a closed file for each attempt that was made."""
    return Figure(PART, what, "bytes", contender, "normal")


@contextmanager
def bytes_stored(plan: Plan) -> Iterator[Measure]:
    """Bytes an attempt: of a closed file, whose log has been merged into it.

    With wins only, each attempt is a row of the plain table, too: the target is for these. In the
    mix every second instance has two losing attempts more, and the plain table forgets those. So
    there it has one row for two attempts, and its bytes are for what it keeps of an attempt.
    """

    def measure(into: Results) -> None:
        makers: list[tuple[str, Callable[[Path, Records], None], int]] = [
            (OURS, build, plan.stored),
            (PLAIN, fill, plan.stored),
            (ORDINARY, fill_ordinary, plan.stored // 10),
        ]
        for contender, make, attempts in makers:
            for what, records in ((WINS, wins(attempts)), (MIX, mixed(attempts))):
                with TemporaryDirectory(dir=plan.scratch) as scratch:
                    path = Path(scratch, "stored.db")
                    make(path, records)
                    into.add(stored(what, contender), path.stat().st_size / attempts)

    yield measure
