"""Moving a ledger: what was exported and imported is the same ledger."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from random import Random

import pytest

from answers import answer
from inside import OpenLedger, all_rows
from integration.exports import export_of, imported
from integration.tampering import make_empty, make_ledger
from paging import read_by
from resolution_ledger import (
    LedgerAdmin,
    LedgerNotEmpty,
    Progress,
    Replayed,
    ResolutionLedger,
    Won,
)
from samples import OTHER_WORKSPACE, WORKSPACE, record, response
from submissions import Submitted, some_submission

LENGTH = 60


@pytest.fixture
def submitted(path: Path) -> list[Submitted]:
    """What was submitted to the ledger at ``path``."""
    return make_ledger(path, LENGTH)


@pytest.fixture
def doors() -> Iterator[Callable[[Path], dict[str, ResolutionLedger]]]:
    """Opens a ledger for both workspaces, with a clock that counts."""
    with ExitStack() as stack:

        def open_(path: Path) -> dict[str, ResolutionLedger]:
            ticks = count(1)
            return {
                workspace: stack.enter_context(
                    ResolutionLedger.open(path, workspace=workspace, clock=lambda: next(ticks))
                )
                for workspace in (WORKSPACE, OTHER_WORKSPACE)
            }

        yield open_


@pytest.mark.parametrize("size", [1000, 7, 1])
@pytest.mark.usefixtures("submitted")
def test_what_is_imported_is_exported_again_to_the_byte(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """With the same end, the same attempts and the same rows."""
    read_by(monkeypatch, size)
    export = export_of(path)
    end = imported(export, tmp_path / "new.db")
    assert export_of(tmp_path / "new.db") == export
    with LedgerAdmin.open(path) as old, LedgerAdmin.open(tmp_path / "new.db") as new:
        assert end == old.checkpoint() == new.checkpoint()
        assert [*new.attempts()] == [*old.attempts()]
        assert new.verify(end).clean
    with (
        closing(sqlite3.connect(path)) as one,
        closing(sqlite3.connect(tmp_path / "new.db")) as other,
    ):
        assert all_rows(one) == all_rows(other)


def test_a_moved_ledger_answers_as_it_did(
    path: Path,
    tmp_path: Path,
    submitted: list[Submitted],
    doors: Callable[[Path], dict[str, ResolutionLedger]],
) -> None:
    """To all that was ever submitted, without a trace, and to what comes next, with the same."""
    imported(export_of(path), tmp_path / "new.db")
    old, new = doors(path), doors(tmp_path / "new.db")
    for workspace, submission in submitted:
        assert answer(old[workspace], submission) == answer(new[workspace], submission)
    assert len(export_of(path)) == len(export_of(tmp_path / "new.db")) == LENGTH + 1
    draw = Random(7)  # noqa: S311 (a reproducible draw, no secret)
    for _ in range(60):
        workspace, submission = some_submission(draw, 15)
        assert answer(old[workspace], submission) == answer(new[workspace], submission)
    assert export_of(path) == export_of(tmp_path / "new.db")
    assert len(export_of(path)) > LENGTH + 20


@pytest.mark.usefixtures("submitted")
def test_the_first_line_says_what_is_exported_and_each_other_line_is_an_event(
    path: Path,
) -> None:
    """In the order of commits."""
    with LedgerAdmin.open(path) as admin:
        checkpoint = admin.checkpoint()
        told = [(a.sequence, a.instance.text, a.position, a.outcome) for a in admin.attempts()]
        file = io.BytesIO()
        assert admin.export(file) == checkpoint
    header, *events = map(json.loads, file.getvalue().splitlines())
    origin, length, digest = checkpoint.splitlines()
    assert header == {
        "format": "resolution-ledger",
        "version": 1,
        "ledger": origin.removeprefix("resolution-ledger/"),
        "length": int(length),
        "hash": digest,
    }
    assert [(e["sequence"], e["stream"], e["position"], e["tag"]) for e in events] == told
    assert {frozenset(e) for e in events} == {
        frozenset({"sequence", "stream", "position", "tag", "state", "hash"})
    }


def test_an_empty_ledger_can_be_moved(path: Path, tmp_path: Path) -> None:
    """And goes on as the same one."""
    make_empty(path)
    export = export_of(path)
    assert len(export) == 1
    imported(export, tmp_path / "new.db")
    for there in (path, tmp_path / "new.db"):
        with ResolutionLedger.open(there, workspace=WORKSPACE, clock=lambda: 1) as ledger:
            assert ledger.resolve(record(1, 1, 1)) == Won()
    assert export_of(path) == export_of(tmp_path / "new.db")


@pytest.mark.usefixtures("submitted")
def test_a_ledger_in_memory_takes_in_an_export(path: Path) -> None:
    """Once."""
    export = b"".join(export_of(path))
    with LedgerAdmin.open(":memory:") as admin:
        assert admin.verify().length == 0
        admin.import_(io.BytesIO(export))
        file = io.BytesIO()
        admin.export(file)
        assert file.getvalue() == export
        assert admin.verify().clean
        with pytest.raises(LedgerNotEmpty):
            admin.import_(io.BytesIO(export))


@pytest.mark.usefixtures("submitted")
def test_an_empty_ledger_becomes_the_imported_one_for_whoever_has_it_open(
    path: Path, tmp_path: Path, doors: Callable[[Path], dict[str, ResolutionLedger]]
) -> None:
    """Its operator goes on with all that there is to do."""
    export, new = export_of(path), tmp_path / "new.db"
    make_empty(new)
    with LedgerAdmin.open(new) as admin:
        before = admin.checkpoint()
        assert admin.verify(before).clean
        assert admin.rebuild().clean
        end = admin.import_(io.BytesIO(b"".join(export)))
        assert admin.checkpoint() == end != before
        assert admin.verify(end).clean
        assert not admin.verify(before).clean
        with closing(sqlite3.connect(new)) as connection, connection:
            connection.execute("DELETE FROM losing_attempts")
            connection.execute("DELETE FROM closed_instances")
        assert not admin.rebuild().clean
        assert admin.verify(end).clean
    assert doors(new)[WORKSPACE].resolve(record(0, 0, 0)) == Replayed(response(0), own=True)


@pytest.mark.usefixtures("submitted")
def test_a_ledger_that_has_events_takes_in_no_others(
    path: Path, tmp_path: Path, open_ledger: OpenLedger
) -> None:
    """Not even its own."""
    export, new = export_of(path), tmp_path / "new.db"
    open_ledger(new).resolve(record(1, 1, 1))
    for target, length in ((new, 1), (path, LENGTH)):
        before = export_of(target)
        with pytest.raises(LedgerNotEmpty) as error:
            imported(export, target)
        assert error.value.length == length
        assert export_of(target) == before


class Busy(io.BytesIO):
    """A file during whose writing others resolve."""

    def __init__(self, ledger: ResolutionLedger) -> None:
        super().__init__()
        self._numbers = iter(range(1000, 1000 + 2 * LENGTH))  # else it might never end
        self._ledger = ledger

    def write(self, data: object) -> int:
        self._ledger.resolve(record(next(self._numbers), 1, 1))
        return super().write(data)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1000, 1, 9])
@pytest.mark.usefixtures("submitted")
def test_an_export_ends_where_its_first_line_says_whatever_is_written_meanwhile(
    path: Path, tmp_path: Path, ledger: ResolutionLedger, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """With the log as it was when it began."""
    read_by(monkeypatch, size)
    before = export_of(path)
    file = Busy(ledger)
    with LedgerAdmin.open(path) as admin:
        checkpoint = admin.checkpoint()
        assert admin.export(file) == checkpoint
        assert admin.checkpoint() != checkpoint
    assert file.getvalue() == b"".join(before)
    assert imported(before, tmp_path / "new.db") == checkpoint


@pytest.mark.usefixtures("submitted")
def test_both_tell_how_far_they_are(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In events, up to the last one."""
    read_by(monkeypatch, 7)
    told: list[Progress] = []
    file = io.BytesIO()
    for target, work in (
        (path, lambda admin: admin.export(file, told.append)),
        (
            tmp_path / "new.db",
            lambda admin: admin.import_(io.BytesIO(file.getvalue()), told.append),
        ),
    ):
        told.clear()
        with LedgerAdmin.open(target) as admin:
            work(admin)
        done = [progress.done for progress in told]
        assert done == sorted(done)
        assert done[-1] == LENGTH
        assert len(done) > LENGTH // 7
        assert {progress.total for progress in told} == {LENGTH}
