"""What an attacker can do, as SECURITY.md says it; what nobody can is mostly tested elsewhere."""

from __future__ import annotations

import io
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from inside import OpenLedger, files_in
from integration import holding
from integration.dying import leave_a_wal
from processes import PATIENCE, spawning
from resolution_ledger import (
    IdempotencyConflict,
    IdempotencyKey,
    InstanceId,
    LedgerAdmin,
    Lost,
    OutsideWorkspace,
    Replayed,
    ResolutionLedger,
    ResolutionRecord,
    StoreBusy,
    Won,
)
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response

# A caller of another workspace


@pytest.fixture
def attacker(open_ledger: OpenLedger) -> ResolutionLedger:
    return open_ledger(workspace=OTHER_WORKSPACE)


def test_whoever_comes_first_claims_an_instance_for_its_workspace(
    ledger: ResolutionLedger, attacker: ResolutionLedger
) -> None:
    """Only ids are seen here: whether the instance is the caller's own, its host has to know."""
    assert attacker.resolve(record(1, 9, 9)) == Won()
    with pytest.raises(OutsideWorkspace):
        ledger.resolve(record(1, 1, 1))
    with pytest.raises(OutsideWorkspace):
        ledger.wait(instance(1))
    assert ledger.winner(instance(1)) is None


def test_whoever_comes_later_changes_nothing_and_its_operator_sees_it(
    ledger: ResolutionLedger, attacker: ResolutionLedger, path: Path
) -> None:
    ledger.resolve(record(1, 1, 1))
    for attempt in (record(1, 1, 1), record(1, 9, 1), record(1, 9, 9)):
        with pytest.raises(OutsideWorkspace) as refusal:
            attacker.resolve(attempt)
        told = str(refusal.value) + repr(vars(refusal.value))
        assert response(1).text not in told
        assert WORKSPACE not in told
    assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
    assert ledger.resolve(record(1, 3, 9)) == Lost(response(1)), "fenced events own no key"
    with LedgerAdmin.open(path) as admin:
        fenced = [*admin.attempts(workspace=OTHER_WORKSPACE, outcome="fenced")]
    assert len(fenced) == 3


def test_a_workspace_is_what_its_caller_says(ledger: ResolutionLedger, path: Path) -> None:
    """There is no secret in it: who may open a ledger may open it for any workspace."""
    ledger.resolve(record(1, 1, 1))
    with ResolutionLedger.open(path, workspace=WORKSPACE) as pretender:
        assert pretender.winner(instance(1)) == response(1)


# A caller with somebody else's key


def test_a_stolen_key_wins_nothing_back_and_gives_no_other_answer(ledger: ResolutionLedger) -> None:
    ledger.resolve(record(1, 1, 1))
    with pytest.raises(IdempotencyConflict):
        ledger.resolve(record(1, 9, 1))
    assert ledger.winner(instance(1)) == response(1)


def test_who_sends_somebody_elses_whole_submission_is_told_what_that_one_is_told(
    open_ledger: OpenLedger,
) -> None:
    """So ``own`` is no proof of who asks: the caller's own note decides whether it acts."""
    open_ledger().resolve(record(1, 1, 1, "tty"))
    told = open_ledger().resolve(record(1, 1, 1, "thief"))
    assert told == Replayed(response(1), own=True)
    (attempt,) = open_ledger().history(instance(1))
    assert attempt.submitted_by == "tty"


def test_a_key_can_be_used_up_before_its_owner_uses_it(ledger: ResolutionLedger) -> None:
    """A nuisance: whoever can guess a key can have its owner told of a conflict, not of a loss."""
    ledger.resolve(record(1, 1, 1))
    assert ledger.resolve(record(1, 9, 2)) == Lost(response(1))
    with pytest.raises(IdempotencyConflict):
        ledger.resolve(record(1, 2, 2))
    assert ledger.resolve(record(1, 2, 3)) == Lost(response(1))


# Somebody who can write to the file, or beside it


def test_an_older_copy_put_back_lets_an_instance_be_won_again(
    open_ledger: OpenLedger, path: Path, tmp_path: Path
) -> None:
    with open_ledger() as ledger:
        ledger.resolve(record(0, 1, 1))
    shutil.copy(path, tmp_path / "monday")
    with open_ledger() as ledger:
        assert ledger.resolve(record(1, 1, 1)) == Won()
    with LedgerAdmin.open(path) as admin:
        checkpoint = admin.checkpoint()
    shutil.copy(tmp_path / "monday", path)
    assert open_ledger().resolve(record(1, 2, 2)) == Won()
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
        assert [finding.kind for finding in admin.verify(checkpoint).findings] == ["checkpoint"]


def test_whoever_may_write_to_the_folder_can_plant_a_wal(path: Path, tmp_path: Path) -> None:
    """SQLite takes it for the database's own, though the database cannot be written to."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(50, 1, 1))
    workshop = tmp_path / "workshop"
    workshop.mkdir()
    shutil.copy(path, workshop / path.name)
    leave_a_wal(workshop / path.name, 3)
    shutil.copy(workshop / f"{path.name}-wal", f"{path}-wal")
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        assert ledger.winner(instance(2)) == response(1)


def test_a_row_of_winners_that_was_forged_is_not_what_decides(
    unguarded: tuple[ResolutionLedger, sqlite3.Connection], path: Path
) -> None:
    ledger, connection = unguarded
    connection.execute(
        "UPDATE interaction_resolutions SET response_id = ? WHERE instance_id = ?",
        (response(9).text, instance(1).text),
    )
    assert ledger.resolve(record(1, 9, 9)) == Lost(response(1))
    assert ledger.wait(instance(1)) == response(1)
    with LedgerAdmin.open(path) as admin:
        assert "winner" in {finding.kind for finding in admin.verify().findings}


# Somebody who can read it


def test_whoever_can_read_the_file_reads_all_workspaces(
    ledger: ResolutionLedger, attacker: ResolutionLedger, path: Path
) -> None:
    ledger.resolve(ResolutionRecord(instance(1), response(1), IdempotencyKey("k-secret"), "label"))
    attacker.resolve(record(2, 2, 2))
    ledger.close()
    attacker.close()
    stored = path.read_bytes()
    for text in (WORKSPACE, OTHER_WORKSPACE, "k-secret", "label", instance(1).text):
        assert text.encode() in stored


def test_what_can_be_guessed_is_no_secret_behind_its_id() -> None:
    """An id hides a record as well as the record hides itself: put a nonce into it."""
    asked = {"ask": "May the agent run `make deploy`?"}
    assert InstanceId.mint(asked) == InstanceId.mint(dict(asked))
    assert InstanceId.mint(asked) != InstanceId.mint({**asked, "nonce": "0f4c1b2e"})


@pytest.fixture
def held(path: Path) -> Iterator[Callable[[Callable[..., None]], None]]:
    """Has another process hold something until the test is over."""
    processes = []

    def hold(work: Callable[..., None]) -> None:
        ready = spawning.Event()
        process = spawning.Process(target=work, args=(str(path), ready), daemon=True)
        process.start()
        processes.append(process)
        assert ready.wait(PATIENCE)

    yield hold
    for process in processes:
        process.kill()
        process.join()


def test_whoever_can_read_the_files_can_keep_everybody_from_writing(
    open_ledger: OpenLedger, held: Callable[[Callable[..., None]], None]
) -> None:
    """SQLite's locks are a file's, and a lock for reading takes no right to write."""
    ledger = open_ledger(lock_timeout=0.3)
    ledger.resolve(record(1, 1, 1))
    held(holding.lock_of_the_shm)
    with pytest.raises(StoreBusy):
        ledger.resolve(record(2, 1, 1))
    assert ledger.winner(instance(1)) == response(1)
    assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)


def test_whoever_holds_the_gate_keeps_nobody_from_writing(
    open_ledger: OpenLedger, path: Path, held: Callable[[Callable[..., None]], None]
) -> None:
    Path(f"{path}-gate").touch()
    ledger = open_ledger()
    ledger.resolve(record(1, 1, 1))
    held(holding.gate)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            open_ledger(lock_timeout=0.1).resolve(record(2, 1, 1))
        connection.execute("ROLLBACK")
    assert ledger.resolve(record(3, 1, 1)) == Won()


# Somebody who controls the clock


def test_no_tick_decides_anything(open_ledger: OpenLedger) -> None:
    late, early = open_ledger(clock=lambda: 2**63 - 1), open_ledger(clock=lambda: -(2**63))
    assert late.resolve(record(1, 1, 1)) == Won()
    assert early.resolve(record(1, 2, 2)) == Lost(response(1))
    ticks = [attempt.tick for attempt in early.history(instance(1))]
    assert ticks == [2**63 - 1, -(2**63)]


# Somebody who sends hostile exports


def test_an_export_brings_in_no_second_identity_and_nothing_that_the_rules_refuse(
    ledger: ResolutionLedger, path: Path, tmp_path: Path
) -> None:
    """But whoever makes an export by the rules makes a ledger: keep a checkpoint beside it."""
    forger = tmp_path / "forger.db"
    with ResolutionLedger.open(forger, workspace=WORKSPACE) as theirs:
        theirs.resolve(record(1, 9, 9))
    forged = io.BytesIO()
    with LedgerAdmin.open(forger) as admin:
        admin.export(forged)
    ledger.resolve(record(1, 1, 1))
    with LedgerAdmin.open(path) as admin:
        checkpoint = admin.checkpoint()
    forged.seek(0)
    with LedgerAdmin.open(tmp_path / "imported.db") as admin:
        admin.import_(forged)
        assert admin.verify().clean
        assert not admin.verify(checkpoint).clean


# Somebody who controls the arguments or the environment of the command line


def test_a_ledger_that_is_named_in_the_environment_is_the_one_that_is_used(
    tmp_path: Path, ledger: ResolutionLedger
) -> None:
    """So a script that is run in a foreign environment names both."""
    ledger.resolve(record(1, 1, 1))
    from integration.shells import Shell  # noqa: PLC0415 - POSIX alone

    shell = Shell(tmp_path, tmp_path / "planted.db", OTHER_WORKSPACE)
    assert shell.resolve(9, 9)[0] == 0
    named = ("--ledger", str(tmp_path / "ledger.db"), "--workspace", WORKSPACE)
    ids = (str(instance(1)), str(response(9)), "--key", str(key(9)))
    assert shell.run(*named, "resolve", *ids).returncode == 11
    assert {"planted.db", "ledger.db"} <= set(files_in(tmp_path))
