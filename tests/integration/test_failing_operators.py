"""Whichever database call of an operator's work fails, it can be done again, to its end."""

from __future__ import annotations

import io
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest

from integration.exports import export_of
from integration.failing import MAIN_KINDS, When
from integration.old_ledgers import LEDGERS, restore
from integration.one_row_program import make_table, row
from integration.rebuilders import drop, empty
from integration.sweeping import Operation, make_ledger, open_admin, sweep
from resolution_ledger import (
    LedgerAdmin,
    LedgerNotEmpty,
    NothingToAdopt,
    Replayed,
    Won,
)
from samples import record, response

LENGTH = 3


@cache
def export() -> bytes:
    """That of the ledger that is made for others."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "ledger.db")
        make_ledger(path)
        return b"".join(export_of(path))


def _length(checkpoint: str) -> int:
    return int(checkpoint.splitlines()[1])


def _import(admin: LedgerAdmin) -> int:
    return _length(admin.import_(io.BytesIO(export())))


def make_one_row_table(path: Path, *, journal: str = "delete") -> None:
    make_table(path, [row(n, 1, 1, tick=n) for n in range(LENGTH)], journal=journal)


def make_nothing(_: Path) -> None:
    pass


def make_empty_file(path: Path) -> None:
    path.touch()


def make_old_one(path: Path) -> None:
    restore(LEDGERS[0], path, journal="wal")


def make_emptied(path: Path) -> None:
    make_ledger(path)
    empty(path)


def make_dropped(path: Path) -> None:
    make_ledger(path)
    drop(path)


def operators(call: object, answer: object, again: object, **options: object) -> Operation:
    """An operation at the operator's door."""
    return Operation(
        call,  # type: ignore[arg-type]
        answer,
        again,
        open=open_admin,
        warm_up=lambda _: None,
        **{"adds": 0, **options},  # type: ignore[arg-type]
    )


REBUILD = partial(
    operators, lambda admin: admin.rebuild().clean, answer=False, again=True, partly=True
)
IMPORT = partial(operators, _import, LENGTH, LedgerNotEmpty, adds=LENGTH)
ADOPT = partial(operators, lambda admin: admin.adopt(), LENGTH, NothingToAdopt, adds=LENGTH)

OPERATIONS = {
    "verify": operators(lambda admin: admin.verify().findings, (), ()),
    "export": operators(lambda admin: _length(admin.export(io.BytesIO())), LENGTH, LENGTH),
    "checkpoint": operators(lambda admin: _length(admin.checkpoint()), LENGTH, LENGTH),
    "attempts": operators(lambda admin: len([*admin.attempts()]), LENGTH, LENGTH),
    "contested": operators(lambda admin: len(admin.contested()), 1, 1),
    "rebuild what is whole": operators(lambda admin: admin.rebuild().clean, True, True),  # noqa: FBT003
    "rebuild what was emptied": REBUILD(make=make_emptied),
    "rebuild what was dropped": REBUILD(make=make_dropped),
    "import into nothing": IMPORT(make=make_nothing),
    "import into an empty file": IMPORT(make=make_empty_file),
    "adopt": ADOPT(make=make_one_row_table),
    "adopt in WAL mode": ADOPT(make=partial(make_one_row_table, journal="wal")),
    "bring up to date and win": Operation(
        lambda ledger: ledger.resolve(record(9, 1, 1)),
        Won(),
        Replayed(response(1), own=True),
        make=make_old_one,
        warm_up=lambda _: None,
    ),
}


@pytest.mark.parametrize("when", get_args(When))
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_work_of_which_a_statement_fails_is_told_so_and_can_be_done_again(
    operation: Operation, when: When, tmp_path: Path
) -> None:
    failed = sweep(operation, MAIN_KINDS, when, tmp_path)
    assert any("SELECT" in statement for statement in failed)
    assert operation.adds == 0 or "COMMIT" in failed
