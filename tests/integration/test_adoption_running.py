"""Adopting while others decide or adopt, and adoptions that do not get to their end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from chains import unbroken
from inside import files_in
from integration import one_row_program
from integration.adopters import adopt_each, adopt_or_decide, kill_adoptions, older_state
from integration.rebuilders import open_admin
from processes import PATIENCE, run_alone, run_together
from resolution_ledger import LedgerAdmin, NotAdopted, StoreBusy
from resolution_ledger.infra import adoption
from resolution_ledger.infra.chain import Head
from samples import instance

JOURNALS = ["delete", "wal"]

TWENTY = [one_row_program.row(i, 1, 1, 0) for i in range(20)]


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Where databases of an older program may be; nothing is there yet."""
    return [tmp_path / f"{n}.db" for n in range(10)]


@pytest.mark.parametrize("journal", JOURNALS)
def test_whoever_decides_before_an_adoption_is_adopted_and_nobody_decides_after_it(
    paths: list[Path], foreign: Callable[[Path], sqlite3.Connection], journal: str
) -> None:
    for path in paths:
        one_row_program.make_table(path, [], journal=journal)
    counts, *told = run_together(adopt_or_decide, [([*map(str, paths)], n) for n in range(4)])
    for path, (count,), *won in zip(paths, counts, *told, strict=True):
        winners = [instance(i).text for instances in won for i in instances]
        assert len(winners) == len(set(winners)) == count
        assert {row[0] for row in one_row_program.table(foreign(path))} == set(winners)
        with open_admin(path) as admin:
            attempts = list(admin.attempts())
            assert admin.verify().findings == ()
        assert [attempt.outcome for attempt in attempts] == ["adopted"] * count
        assert {attempt.instance.text for attempt in attempts} == set(winners)


@pytest.mark.parametrize("journal", JOURNALS)
def test_of_processes_that_adopt_at_once_one_does(
    paths: list[Path], foreign: Callable[[Path], sqlite3.Connection], journal: str
) -> None:
    for path in paths:
        one_row_program.make_table(
            path, [one_row_program.row(i, 1, 1, 0) for i in range(20)], journal=journal
        )
    told = run_together(adopt_each, [([*map(str, paths)],)] * 2)
    for path, *adopted in zip(paths, *told, strict=True):
        assert set(adopted) == {20, None}
        assert unbroken(foreign(path)) == 20


@pytest.mark.parametrize("journal", JOURNALS)
@pytest.mark.parametrize("kind", ["DEFERRED", "IMMEDIATE"], ids=["reads", "writes"])
def test_an_adoption_waits_for_an_older_program_that_is_not_done(
    paths: list[Path], journal: str, kind: str
) -> None:
    """And adopts what it has decided by then."""
    path = paths[0]
    one_row_program.make_table(
        path, [one_row_program.row(i, 1, 1, 0) for i in range(20)], journal=journal
    )
    begun, end = Event(), Event()

    def use_for_a_while() -> None:
        with closing(one_row_program.connect(path)) as connection:
            connection.execute(f"BEGIN {kind}")
            assert len(one_row_program.table(connection)) == 20
            if kind == "IMMEDIATE":
                assert one_row_program.decide(connection, 20, 1) is None
            begun.set()
            end.wait(PATIENCE)
            connection.execute("COMMIT")

    with ThreadPoolExecutor(1) as thread, open_admin(path) as admin:
        using = thread.submit(use_for_a_while)
        assert begun.wait(PATIENCE)
        Timer(0.2, end.set).start()
        assert admin.adopt() == (21 if kind == "IMMEDIATE" else 20)
        using.result()
        assert admin.verify().findings == ()


def test_an_adoption_that_has_waited_in_vain_changes_nothing(
    paths: list[Path], foreign: Callable[[Path], sqlite3.Connection]
) -> None:
    path = paths[0]
    one_row_program.make_table(path, TWENTY)
    before, connection = older_state(path), foreign(path)
    connection.execute("BEGIN IMMEDIATE")
    with LedgerAdmin.open(path, lock_timeout=0.1) as admin:
        with pytest.raises(StoreBusy) as error:
            admin.adopt()
        assert not error.value.outcome_unknown
        connection.execute("ROLLBACK")
        assert older_state(path) == before
        assert admin.adopt() == 20


def test_an_adoption_that_is_killed_has_adopted_all_or_nothing(paths: list[Path]) -> None:
    """Where nothing was adopted, the older program goes on, and the next adoption does all."""
    adopted = run_alone(kill_adoptions, paths, 2000, 0.06)
    assert len(adopted) == len(paths)
    assert set(adopted) <= {0, 2000}


def test_an_interruption_leaves_the_older_table_alone(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = paths[0]
    one_row_program.make_table(path, [one_row_program.row(i, 1, 1, i) for i in range(10)])
    before = files_in(tmp_path)
    append, left = adoption.append_alone, 5

    def interrupted(*arguments: Any) -> Head:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        return append(*arguments)

    monkeypatch.setattr(adoption, "append_alone", interrupted)
    with open_admin(path) as admin:
        with pytest.raises(KeyboardInterrupt):
            admin.adopt()
        with pytest.raises(NotAdopted):
            admin.verify()
    assert files_in(tmp_path) == before
    with open_admin(path) as admin:
        assert admin.adopt() == 10
