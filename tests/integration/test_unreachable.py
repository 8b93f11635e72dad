"""The ledger cannot be reached or written, whatever the operating system has against it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inside import OpenLedger
from integration import limited
from processes import run_alone
from resolution_ledger import Replayed, ResolutionLedger, StoreUnavailable, Won
from samples import WORKSPACE, instance, record, response

CALLS: dict[str, Callable[[ResolutionLedger], object]] = {
    "resolve": lambda ledger: ledger.resolve(record(1, 1, 1)),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
}

each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@each_call
@pytest.mark.parametrize("place", [".", "missing/ledger.db", "file/ledger.db", "x" * 300])
def test_a_place_where_no_file_can_be_is_unavailable(
    open_ledger: OpenLedger,
    tmp_path: Path,
    place: str,
    call: Callable[[ResolutionLedger], object],
) -> None:
    (tmp_path / "file").touch()
    ledger = open_ledger(tmp_path / place)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            call(ledger)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@each_call
def test_a_link_to_itself_is_unavailable(
    open_ledger: OpenLedger, path: Path, call: Callable[[ResolutionLedger], object]
) -> None:
    path.symlink_to(path)
    with pytest.raises(StoreUnavailable):
        call(open_ledger())


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that every user can enter, unlike those of pytest."""
    directory = Path(tempfile.mkdtemp(prefix="ledger-"))
    directory.chmod(0o755)
    yield directory
    directory.chmod(0o755)
    shutil.rmtree(directory)


def resolved(path: Path) -> str:
    """A ledger at ``path`` that nobody may write to."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1))
    path.chmod(0o444)
    return str(path)


posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users of this kind here")


@posix
def test_a_directory_that_may_not_be_written_gets_no_ledger(shared: Path) -> None:
    shared.chmod(0o555)
    outcomes = run_alone(limited.outcomes_without_privileges, str(shared / "ledger.db"))
    assert set(outcomes.values()) == {"StoreUnavailable"}
    assert list(shared.iterdir()) == []


@posix
@pytest.mark.parametrize("directory", [0o555, 0o777], ids=["directory too", "only the file"])
def test_a_ledger_that_may_not_be_written_is_unavailable_to_attempts(
    shared: Path, directory: int
) -> None:
    path = resolved(shared / "ledger.db")
    before = (shared / "ledger.db").read_bytes()
    shared.chmod(directory)
    outcomes = run_alone(limited.outcomes_without_privileges, path)
    assert outcomes.pop("resolve") == "StoreUnavailable"
    # SQLite can read a file in WAL mode only where it can also keep the files beside it.
    assert set(outcomes.values()) <= {
        "StoreUnavailable", "ResponseId", "tuple", "Replayed",
    }  # fmt: skip
    assert (shared / "ledger.db").read_bytes() == before


@posix
@pytest.mark.parametrize("room", [0, 1, 4096, 10_000, 20_000, 33_000, 50_000, 70_000, 100_000])
def test_a_full_disk_is_unavailable_and_takes_nothing_that_was_acknowledged(
    open_ledger: OpenLedger, path: Path, room: int
) -> None:
    acknowledged, winners, again = run_alone(limited.fill_the_disk, str(path), room)
    assert acknowledged < 1000
    assert winners == [response(1)] * acknowledged
    # A commit that failed half way may turn out to have happened.
    assert again in {Won(), Replayed(response(1), own=True)}
    for n in range(acknowledged + 1):
        assert [attempt.outcome for attempt in open_ledger().history(instance(n))] == ["won"]
