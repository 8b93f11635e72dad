"""What is said of what is no ledger, or is none any more."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from inside import files_in
from integration.dying import leave_a_wal
from integration.examined import examined, of, warned
from integration.migrations import newer_version
from integration.old_ledgers import LEDGERS, restore
from integration.one_row_program import make_table, row
from resolution_ledger import (
    LedgerAdmin,
    LedgerClosed,
    ResolutionLedger,
    StoreUnavailable,
)
from samples import WORKSPACE, record

pytestmark = pytest.mark.usefixtures("on_a_disk")


def test_where_there_is_no_file_none_appears(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no such file"):
        examined(path)
    assert files_in(path.parent) == {}


def test_what_is_no_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="ordinary"):
        examined(tmp_path)


def test_after_the_close_nothing_is_examined(there: Path) -> None:
    admin = LedgerAdmin.open(there)
    admin.close()
    with pytest.raises(LedgerClosed):
        admin.examine()


def nonsense(path: Path) -> None:
    path.write_bytes(b"something else " * 1000)


def nothing(path: Path) -> None:
    path.touch()


def someone_elses(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def one_row_table(path: Path) -> None:
    make_table(path, [row(1, 1, 1, 0)])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (nonsense, "NotALedger"),
        (nothing, "NotALedger"),
        (someone_elses, "NotALedger"),
        (one_row_table, "NotAdopted"),
    ],
)
def test_what_is_no_ledger_is_named_and_left_alone(
    path: Path, make: Callable[[Path], None], error: str
) -> None:
    make(path)
    before = files_in(path.parent)
    assert ("ledger", error) in [(a, b.partition(":")[0]) for a, b in warned(path)]
    assert files_in(path.parent) == before


@pytest.mark.parametrize("place", range(0, 40_000, 1111))
def test_damage_anywhere_is_named_and_never_a_failure(there: Path, place: int) -> None:
    damaged = bytearray(there.read_bytes())
    damaged[place : place + 300] = b"\xa5" * len(damaged[place : place + 300])
    there.write_bytes(damaged)
    before = files_in(there.parent)
    examination = examined(there)
    assert examination.observations
    assert files_in(there.parent) == before


def test_damage_in_a_wal_is_no_failure_and_is_left_as_it_is(path: Path, tmp_path: Path) -> None:
    leave_a_wal(path, 5)
    sound = Path(f"{path}-wal").read_bytes()
    aside = tmp_path / "aside"
    aside.mkdir()
    place, beside = aside / path.name, aside / f"{path.name}-wal"
    for start in range(0, len(sound), 997):
        for damaged in (sound[:start], sound[:start] + b"\xa5" * 40 + sound[start + 40 :]):
            shutil.copy(path, place)
            beside.write_bytes(damaged)
            assert examined(place).observations
            assert beside.read_bytes() == damaged
            assert place.read_bytes() == path.read_bytes()
            Path(f"{place}-shm").unlink(missing_ok=True)


def test_a_damaged_page_is_found_by_the_check_and_not_without_it(there: Path) -> None:
    size = 4096
    damaged = bytearray(there.read_bytes())
    with closing(sqlite3.connect(there)) as connection:
        ((page,),) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'losing_attempts'"
        )
    damaged[(page - 1) * size : page * size] = bytes(size)
    there.write_bytes(damaged)
    assert {subject for subject, _ in warned(there)} == {"check"}
    assert examined(there, check=False).warnings == ()


def test_a_file_that_was_cut_is_named(there: Path) -> None:
    there.write_bytes(there.read_bytes()[:20_000])
    assert {"ledger", "check"} & {subject for subject, _ in warned(there)}


def test_a_newer_schema_is_named(there: Path) -> None:
    with newer_version(), ResolutionLedger.open(there, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(99, 1, 1))
    (seen,) = examined(there).warnings
    assert (seen.subject, seen.found) == ("schema version", 3)
    assert "SchemaTooNew" in str(seen.advice)


def test_an_older_schema_is_told_and_stays(path: Path) -> None:
    restore(LEDGERS[0], path)
    before = files_in(path.parent)
    (seen,) = of(examined(path), "schema version")
    assert (seen.found, seen.level) == (1, "note")
    assert files_in(path.parent) == before
