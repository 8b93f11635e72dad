"""Rows whose keys were damaged may lead back to earlier ones. Nobody goes around for ever."""

from __future__ import annotations

import faulthandler
import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from integration.tampering import make_ledger
from resolution_ledger import CorruptLedger, Finding, LedgerAdmin
from resolution_ledger.infra import ranges, rebuild

LENGTH, BACK = 60, 40
"""Events; and the one whose number is an earlier one's."""

LEAF, INNER = 13, 5
"""Kinds of pages that a table has."""


@pytest.fixture(autouse=True)
def no_endless_loop() -> Iterator[None]:
    faulthandler.dump_traceback_later(60, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def renumber(path: Path, table: str, numbers: dict[int, int]) -> None:
    """Give rows of a table other numbers, where they stand. All are below 128: of one byte."""
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        )
        ((size,),) = connection.execute("PRAGMA page_size")
    data = bytearray(path.read_bytes())
    done = set()
    pages = [root]
    for page in pages:
        begin = (page - 1) * size
        kind, cells = data[begin], int.from_bytes(data[begin + 3 : begin + 5])
        assert kind in {LEAF, INNER}
        pointers = begin + (8 if kind == LEAF else 12)
        for n in range(cells):
            cell = begin + int.from_bytes(data[pointers + 2 * n : pointers + 2 * n + 2])
            if kind == INNER:
                pages.append(int.from_bytes(data[cell : cell + 4]))
                continue
            while data[cell] & 0x80:  # its length, in front of its number
                cell += 1
            if data[cell + 1] in numbers:
                done.add(data[cell + 1])
                data[cell + 1] = numbers[data[cell + 1]]
        if kind == INNER:
            pages.append(int.from_bytes(data[begin + 8 : begin + 12]))
    assert done == numbers.keys()
    path.write_bytes(data)


READERS: dict[str, Callable[[LedgerAdmin], object]] = {
    "attempts": lambda admin: [*admin.attempts()],
    "state_at": lambda admin: [*admin.state_at(LENGTH)],
    "export": lambda admin: admin.export(io.BytesIO()),
    "watch": lambda admin: [*islice(admin.watch(), LENGTH * 2)],
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_log_that_leads_back_is_refused_by_those_who_read_it_all(
    read: Callable[[LedgerAdmin], object], path: Path
) -> None:
    make_ledger(path, LENGTH)
    renumber(path, "resolution_events", {BACK: 1, BACK + 1: LENGTH + 1})
    with LedgerAdmin.open(path) as admin, pytest.raises(CorruptLedger):
        read(admin)


def test_verify_finds_a_log_that_leads_back_and_comes_to_an_end(path: Path) -> None:
    make_ledger(path, LENGTH)
    renumber(path, "resolution_events", {BACK: 1, BACK + 1: LENGTH + 1})
    found: list[Finding] = []
    with LedgerAdmin.open(path) as admin, pytest.raises(CorruptLedger):
        admin.verify(finding=found.append)  # indexes lead to what has no such number any more
    assert ("sequence", 1) in {(finding.kind, finding.sequence) for finding in found}


@pytest.fixture
def leading_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with losing attempts that end a range with an earlier number."""
    monkeypatch.setattr(ranges, "PAGE", 10)
    make_ledger(path, LENGTH)
    with closing(sqlite3.connect(path)) as connection:
        numbers = connection.execute("SELECT sequence FROM losing_attempts ORDER BY 1").fetchall()
    renumber(path, "losing_attempts", {numbers[9][0]: 0})
    return path


def test_verify_finds_a_read_model_that_leads_back_and_comes_to_an_end(leading_back: Path) -> None:
    with LedgerAdmin.open(leading_back) as admin:
        found = admin.verify().findings
    assert "its rows lead back" in {finding.found for finding in found}


def test_a_read_model_that_leads_back_is_not_rebuilt_but_refused(
    leading_back: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite sees it, too, and is not asked here."""
    monkeypatch.setattr(rebuild, "_reindex", lambda *_: None)
    before = leading_back.read_bytes()
    with LedgerAdmin.open(leading_back) as admin, pytest.raises(CorruptLedger):
        admin.rebuild()
    assert leading_back.read_bytes() == before
