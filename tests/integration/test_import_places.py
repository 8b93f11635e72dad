"""Where an import puts its ledger, who finds it there, and what it leaves behind."""

from __future__ import annotations

import io
import signal
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from inside import OpenLedger
from integration.altering import CONTESTED, import_and_die, import_from, make_contested
from integration.exports import export_of, imported
from integration.tampering import make_empty
from processes import PATIENCE, run_alone, spawning
from resolution_ledger import (
    InvalidExport,
    InvalidOption,
    LedgerAdmin,
    Lost,
    Replayed,
    ResolutionLedger,
    StoreUnavailable,
    Won,
)
from samples import WORKSPACE, instance, record, response


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A file with the export of a ledger in which response 0 won instances 0 to 5."""
    make_contested(tmp_path / "source.db")
    file = tmp_path / "export.jsonl"
    file.write_bytes(b"".join(export_of(tmp_path / "source.db")))
    return file


def unfinished(folder: Path) -> list[str]:
    """The files in a folder that an import has not given their name."""
    return [file.name for file in folder.iterdir() if ".unfinished-" in file.name]


CALLS: dict[str, Callable[[ResolutionLedger], object]] = {
    "winner": lambda ledger: ledger.winner(instance(0)),
    "history": lambda ledger: ledger.history(instance(0)),
    "losers": lambda ledger: ledger.losers(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_who_asked_an_empty_ledger_goes_on_after_another_process_imported_into_it(
    path: Path, open_ledger: OpenLedger, export: Path, call: Callable[[ResolutionLedger], object]
) -> None:
    """Every call answers by what is there then."""
    make_empty(path)
    ledger = open_ledger()
    assert not call(ledger)
    checkpoint = run_alone(import_from, str(export), str(path))
    assert ledger.resolve(record(0, 0, 0)) == Replayed(response(0), own=True)
    assert ledger.resolve(record(1, 4, 4)) == Lost(response(0))
    assert ledger.resolve(record(100, 0, 0)) == Won()
    assert ledger.winner(instance(0)) == response(0)
    with LedgerAdmin.open(path) as admin:
        assert admin.verify(checkpoint).clean


def test_every_thread_goes_on_after_an_import_into_an_empty_ledger(
    path: Path, open_ledger: OpenLedger, export: Path
) -> None:
    """Whichever connection it asks."""
    make_empty(path)
    ledger = open_ledger()
    assert ledger.winner(instance(0)) is None
    run_alone(import_from, str(export), str(path))
    winners: list[object] = []
    threads = [Thread(target=lambda: winners.append(ledger.winner(instance(0)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert winners == [response(0)] * 4


def test_an_operator_who_looked_at_an_empty_ledger_goes_on_as_well(
    path: Path, export: Path
) -> None:
    make_empty(path)
    with LedgerAdmin.open(path) as admin:
        assert list(admin.attempts()) == []
        checkpoint = run_alone(import_from, str(export), str(path))
        assert len(list(admin.attempts())) == CONTESTED
        assert admin.verify(checkpoint).clean
        assert admin.checkpoint() == checkpoint


def replace_by_import(path: Path, export: Path) -> None:
    """Let another process put another ledger where one was."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    run_alone(import_from, str(export), str(path))


def test_who_saw_a_ledger_with_events_refuses_another_one_in_its_place(
    path: Path, open_ledger: OpenLedger, export: Path
) -> None:
    """And nothing is written to the other one."""
    ledger = open_ledger()
    assert ledger.resolve(record(0, 1, 1)) == Won()
    replace_by_import(path, export)
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            ledger.resolve(record(0, 1, 1))
        with pytest.raises(StoreUnavailable):
            ledger.winner(instance(0))
    assert export_of(path) == export.read_bytes().splitlines(keepends=True)


def test_who_saw_events_come_into_an_empty_ledger_refuses_another_one_from_then_on(
    path: Path, tmp_path: Path, open_ledger: OpenLedger, export: Path
) -> None:
    make_empty(path)
    ledger = open_ledger()
    assert ledger.winner(instance(0)) is None
    run_alone(import_from, str(export), str(path))
    assert ledger.resolve(record(0, 0, 0)) == Replayed(response(0), own=True)
    make_contested(tmp_path / "other.db")
    export.write_bytes(b"".join(export_of(tmp_path / "other.db")))
    replace_by_import(path, export)
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            ledger.resolve(record(0, 0, 0))


def assert_open_for_all(path: Path | str) -> None:
    """Callers and operators do what they do."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        assert ledger.winner(instance(0)) == response(0)
        assert ledger.resolve(record(0, 0, 0)) == Replayed(response(0), own=True)
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
        assert admin.rebuild().clean


@pytest.mark.parametrize("name", ["ledger.db", "led[g]er?*.db"])
def test_a_ledger_opens_whose_import_was_killed_when_it_was_whole(
    tmp_path: Path, export: Path, name: str
) -> None:
    """It then has two names, one of which nobody uses."""
    folder = tmp_path / "place"
    folder.mkdir()
    process = spawning.Process(target=import_and_die, args=(str(export), str(folder / name)))
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    assert len(unfinished(folder)) == 1
    (folder / "link").symlink_to(folder / name)
    assert_open_for_all(folder / name)
    assert_open_for_all(folder / "link")


@pytest.mark.parametrize(
    "others",
    [
        ["ledger.db.copy"],
        ["other.db.unfinished-0123456789abcdef"],
        ["ledger.db.unfinished-0123456789abcdef", "ledger.db.copy"],
    ],
    ids=str,
)
def test_any_other_second_name_is_refused(path: Path, others: list[str]) -> None:
    """Also beside one that a killed import has left."""
    make_contested(path)
    for other in others:
        path.with_name(other).hardlink_to(path)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        with pytest.raises(StoreUnavailable, match="hard links"):
            ledger.winner(instance(0))
        with pytest.raises(StoreUnavailable, match="hard links"):
            ledger.resolve(record(0, 0, 0))
    with LedgerAdmin.open(path) as admin, pytest.raises(StoreUnavailable, match="hard links"):
        admin.verify()


def test_an_import_to_a_link_that_leads_nowhere_makes_what_it_leads_to(
    tmp_path: Path, export: Path
) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "ledger.db", tmp_path / "link.db"
    link.symlink_to(target)
    imported(export.read_bytes().splitlines(keepends=True), link)
    assert link.is_symlink()
    assert target.is_file()
    assert [*unfinished(tmp_path), *unfinished(target.parent)] == []
    assert_open_for_all(link)
    assert_open_for_all(target)


def test_a_file_that_is_open_for_text_is_refused_before_anything_is_done(
    path: Path, tmp_path: Path, export: Path
) -> None:
    out = tmp_path / "out.jsonl"
    with LedgerAdmin.open(path) as admin, export.open(encoding="utf-8") as file:
        for text in (file, io.StringIO(export.read_text(encoding="utf-8"))):
            with pytest.raises(InvalidOption):
                admin.import_(text)  # type: ignore[arg-type]
    assert not path.exists()
    with (
        LedgerAdmin.open(tmp_path / "source.db") as admin,
        out.open("w", encoding="utf-8") as file,
        pytest.raises(InvalidOption),
    ):
        admin.export(file)  # type: ignore[arg-type]
    assert out.read_bytes() == b""


class Failing(io.BytesIO):
    """A file that cannot be read to its end."""

    def readline(self, size: int | None = -1, /) -> bytes:
        if self.tell() > 2000:
            raise OSError("the disk")
        return super().readline(size)


@pytest.mark.parametrize("link", [False, True], ids=["", "by a link"])
@pytest.mark.parametrize("how", ["cut off", "no export", "empty", "unreadable"])
def test_an_import_that_fails_leaves_no_file(
    tmp_path: Path, export: Path, how: str, *, link: bool
) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    place = folder / "ledger.db"
    if link:
        place = tmp_path / "link.db"
        place.symlink_to(folder / "ledger.db")
    whole = export.read_bytes()
    file = {
        "cut off": io.BytesIO(whole[:-5]),
        "no export": io.BytesIO(b"{}\n"),
        "empty": io.BytesIO(),
        "unreadable": Failing(whole),
    }[how]
    with LedgerAdmin.open(place) as admin, pytest.raises((InvalidExport, OSError)):
        admin.import_(file)
    assert list(folder.iterdir()) == []
    imported(whole.splitlines(keepends=True), place)
    assert_open_for_all(place)
