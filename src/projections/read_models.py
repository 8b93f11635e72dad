"""The read models as one kind of thing: what a rebuild and an audit need to know of each.

The live path and a rebuild make their rows with the same fold, so they cannot drift.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import astuple

from ..domain.records import LOSING, WINNING, Outcome, RecordedAttempt
from .closed_instances import ClosedInstanceRow, closed_instance_row
from .losing_attempts import LosingAttemptRow, losing_attempt_row
from .report import Finding, FindingKind
from .winners import WinnerRow, winner_row

Row = tuple[object, ...]
"""The values of a row, in the order of the columns."""

Key = str | int | float | bytes | None
"""What a row is found by. Fractions, bytes, None: only in tables that somebody has damaged."""


class ReadModel(Struct, frozen=True):
    """A table in which each row stems from one event."""

    table: str
    kind: FindingKind
    """What a wrong row is called."""
    row_type: type[Struct]
    """Its fields are the columns."""
    key: Literal["instance", "sequence"]
    """What of the event the rows are found by. It is the first column."""
    outcomes: frozenset[Outcome]
    """Those that demand a row here."""
    fold: Callable[[RecordedAttempt], Struct | None]
    """The row that an event demands; None if it demands none here."""

    @property
    def columns(self) -> tuple[str, ...]:
        """In the order of the table."""
        return self.row_type.__struct_fields__

    def demanded(self, attempt: RecordedAttempt) -> Row | None:
        """The row that the event demands, as plain values."""
        row = self.fold(attempt)
        return None if row is None else astuple(row)


WINNERS = ReadModel("interaction_resolutions", "winner", WinnerRow, "instance", WINNING, winner_row)
LOSING_ATTEMPTS = ReadModel(
    "losing_attempts", "losing attempt", LosingAttemptRow, "sequence", LOSING, losing_attempt_row
)
CLOSED_INSTANCES = ReadModel(
    "closed_instances",
    "closed instance",
    ClosedInstanceRow,
    "instance",
    frozenset({"closed"}),
    closed_instance_row,
)
READ_MODELS = (LOSING_ATTEMPTS, WINNERS, CLOSED_INSTANCES)


def differing(demanded: dict[Key, Row], present: dict[Key, Row]) -> set[Key]:
    """The keys under which there is not exactly the row that is demanded."""
    # No column holds fractions; and Python takes 2.0 for 2, which not every reader does.
    fractions = {key for key, row in present.items() if float in map(type, row)}
    if demanded == present:  # nearly always
        return fractions
    return fractions | {
        key for key in demanded.keys() | present.keys() if demanded.get(key) != present.get(key)
    }


def order(key: Key) -> tuple[int, float | bytes]:
    """The order in which databases keep keys: nothing, numbers, texts by their bytes, bytes."""
    match key:
        case None:
            return 0, 0
        case int() | float():
            return 1, key
        case str():
            return 2, key.encode(errors="surrogateescape")
    return 3, key


def difference_found(
    model: ReadModel, key: Key, expected: Row | None, found: Row | None
) -> Finding:
    """The finding that a row is not what it should be; None: that there is, or should be, none."""
    instances = [row[model.columns.index("instance_id")] for row in (expected, found) if row]
    return Finding(
        model.kind,
        key if isinstance(key, int) else None,
        next((instance for instance in instances if isinstance(instance, str)), None),
        _text(model, expected),
        _text(model, found),
    )


_LONGEST_SHOWN = 600
"""Characters of a value: more than any that a ledger writes, escapes included, or nearly."""


def _text(model: ReadModel, row: Row | None) -> str | None:
    """A row as text, by column."""
    if row is None:
        return None
    return ", ".join(
        f"{column}={repr(value)[:_LONGEST_SHOWN]}"
        for column, value in zip(model.columns, row, strict=True)
    )
