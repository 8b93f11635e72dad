"""What a power cut leaves of a ledger: made of the writes and syncs of real processes.

Some states of each kind; ``python -m torture.power`` judges them all.
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest

from integration.old_ledgers import LEDGERS
from torture.power import cutting
from torture.power.cutting import Scenario, Totals, run
from torture.power.disk import Recording, Sync, Write
from torture.power.recording import Beyond, CannotRecord, compile_recorder, record
from torture.power.scenarios import adopted, imported, life, migrated
from torture.power.states import Thoroughness

SOME = Thoroughness(few=5, most=2, drawn=2)


@pytest.fixture(scope="module", autouse=True)
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Skips where nothing can be recorded at all, and says why."""
    try:
        library = compile_recorder(tmp_path_factory.mktemp("recorder"))
        place = tmp_path_factory.mktemp("trial")
        one_write = f"open({str(place.resolve() / 'file')!r}, 'w').write('text')"
        record(library, [sys.executable, "-c", one_write], place, library.with_name("trial"))
    except CannotRecord as reason:
        pytest.skip(str(reason))
    return library


def judged(scenario: Scenario, how: Thoroughness = SOME) -> Totals:
    totals = run(scenario, how)
    assert totals.finished
    assert totals.states > 10 * totals.script.commits
    assert totals.looked_at > totals.script.commits
    return totals


def test_at_full_durability_nothing_that_was_acknowledged_is_lost() -> None:
    totals = judged(life("full", 34, seed=1))
    assert totals.problems == ()
    assert (totals.faults, totals.losses) == (0, 0)
    assert totals.acknowledged == 34
    assert totals.syncs > 34  # each alone, but for those of two threads
    assert totals.copies > 6


def test_at_normal_durability_the_newest_may_be_gone_and_the_rest_is_sound() -> None:
    totals = judged(life("normal", 16, seed=1))
    assert totals.problems == ()
    assert totals.faults == 0
    assert totals.losses > 0  # so a loss can be seen here
    assert totals.syncs < 16


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_planted_commits_that_are_not_synced_are_found_out(
    synchronous: Literal["OFF", "NORMAL"],
) -> None:
    totals = judged(life("full", 8, seed=1, synchronous=synchronous))
    assert totals.losses > 0
    assert any("acknowledgements are lost" in problem for problem in totals.problems)


@pytest.mark.parametrize("into_a_file", [False, True], ids=["new file", "empty file"])
def test_an_import_is_there_as_a_whole_or_not_at_all(*, into_a_file: bool) -> None:
    assert judged(imported(4, seed=1, into_a_file=into_a_file)).problems == ()


def test_an_adoption_stays_once_it_is_done() -> None:
    assert judged(adopted(4, seed=1)).problems == ()


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda ledger: str(ledger.stem))
def test_a_migration_loses_nothing(tmp_path: Path, ledger: Path) -> None:
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(ledger.read_text("utf-8"))
        ((events,),) = connection.execute("SELECT count(*) FROM resolution_events")
    assert judged(migrated(old.read_bytes(), events, 4, seed=1)).problems == ()


def test_torn_sectors_that_hold_anything_do_no_harm() -> None:
    totals = judged(life("full", 8, seed=2), Thoroughness(few=5, most=2, drawn=4, garbage=True))
    assert totals.problems == ()


# The recorder


def recorded(recorder: Path, place: Path, program: str) -> Recording:
    directory = place / "files"
    directory.mkdir()
    command = [sys.executable, "-c", program.replace("PLACE", str(directory.resolve()))]
    return record(recorder, command, directory, place / "record")


def test_the_recorder_sees_what_sqlite_writes_and_syncs(recorder: Path, tmp_path: Path) -> None:
    recording = recorded(
        recorder,
        tmp_path,
        """
import sqlite3
connection = sqlite3.connect("PLACE/plain.db", isolation_level=None)
connection.execute("CREATE TABLE plain (it)")
""",
    )
    (file,) = {s.file for s in recording.steps if isinstance(s, Write) and len(s.data) == 4096} - {
        1  # the journal
    }
    written = [n for n, s in enumerate(recording.steps) if isinstance(s, Write) and s.file == file]
    assert recording.steps[written[-1] + 1] == Sync(file)


def test_a_recording_without_a_write_is_an_error(recorder: Path, tmp_path: Path) -> None:
    """As if SQLite's calls passed it by: never a silent success."""
    with pytest.raises(CannotRecord, match="pass the recorder by"):
        recorded(recorder, tmp_path, "pass")


def test_a_recording_that_lacks_the_wal_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def recorded_in_part(*arguments: Any) -> Recording:
        whole = record(*arguments)
        return Recording(whole.before, tuple(s for s in whole.steps if not isinstance(s, Write)))

    monkeypatch.setattr(cutting, "record", recorded_in_part)
    with pytest.raises(CannotRecord, match="no write to the WAL"):
        run(life("full", 1, seed=1))


@pytest.mark.parametrize(
    "change",
    [
        "mmap.mmap(file, 4096)",
        "os.writev(file, [b'more'])",
        "os.posix_fallocate(file, 0, 9000)",
    ],
)
def test_what_it_cannot_record_is_an_error(recorder: Path, tmp_path: Path, change: str) -> None:
    with pytest.raises(Beyond):
        recorded(
            recorder,
            tmp_path,
            f"""
import mmap, os
file = os.open("PLACE/file", os.O_RDWR | os.O_CREAT)
os.write(file, bytes(4096))
{change}
""",
        )


def test_a_program_that_fails_is_no_recording(recorder: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        recorded(recorder, tmp_path, "1 / 0")
