"""The audit on the command line: verify, checkpoint, rebuild."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from inside import files_in
from integration.rebuilders import drop, empty
from integration.shells import Shell
from integration.tampering import guards_dropped, make_ledger, removal
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import WORKSPACE, record

LENGTH = 30
CLEAN = f"{LENGTH} events, 0 findings.\n"


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    make_ledger(path, LENGTH)
    return Shell(tmp_path, path)


@pytest.fixture
def vandal(shell: Shell, path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for damage; where guards are in the way, they have to be dropped."""
    assert shell.folder
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def damage(connection: sqlite3.Connection, *statements: str) -> None:
    with guards_dropped(connection):
        for statement in statements:
            assert connection.execute(statement).rowcount


def test_verify_of_a_sound_ledger_prints_nothing_and_exits_0(shell: Shell) -> None:
    for arguments in (["verify"], ["--json", "verify"]):
        done = shell.run(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", CLEAN)


DAMAGES = {
    "an event": "UPDATE resolution_events SET state = x'c0' WHERE sequence = 9",
    "a gap": "DELETE FROM resolution_events WHERE sequence = 12",
    "a winner": "UPDATE interaction_resolutions SET resolved_tick = 5",
    "a loser": "DELETE FROM losing_attempts WHERE outcome = 'lost'",
}


@pytest.mark.parametrize("statement", DAMAGES.values(), ids=DAMAGES)
def test_verify_prints_an_object_for_each_finding_and_exits_20(
    shell: Shell, vandal: sqlite3.Connection, path: Path, statement: str
) -> None:
    damage(vandal, statement)
    with LedgerAdmin.open(path) as admin:
        report = admin.verify()
    done = shell.run("--json", "verify")
    assert done.returncode == 20
    assert done.stderr == f"{LENGTH} events, {report.count} findings.\n"
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert printed == [msgspec.structs.asdict(finding) for finding in report.findings]
    assert all(
        list(line) == ["kind", "sequence", "instance", "expected", "found"] for line in printed
    )


def test_verify_prints_a_line_for_each_finding_to_people(
    shell: Shell, vandal: sqlite3.Connection, path: Path
) -> None:
    damage(vandal, *DAMAGES.values())
    with LedgerAdmin.open(path) as admin:
        findings = admin.verify().findings
    done = shell.run("verify")
    assert done.returncode == 20
    for line, finding in zip(done.stdout.splitlines(), findings, strict=True):
        assert line.startswith(finding.kind)
        assert str(finding.sequence or "") in line
        assert str(finding.expected) in line


def test_verify_changes_nothing(shell: Shell, vandal: sqlite3.Connection) -> None:
    damage(vandal, *DAMAGES.values())
    vandal.close()
    before = files_in(shell.folder)
    assert shell.run("verify").returncode == 20
    assert files_in(shell.folder) == before


def test_a_checkpoint_is_three_lines_or_an_object(shell: Shell, path: Path) -> None:
    with LedgerAdmin.open(path) as admin:
        text = admin.checkpoint()
    done = shell.run("checkpoint")
    assert (done.returncode, done.stdout, done.stderr) == (0, text, "")
    origin, length, digest = text.splitlines()
    assert shell.json("checkpoint") == [{"origin": origin, "length": int(length), "hash": digest}]
    assert int(length) == LENGTH


def test_a_ledger_that_has_grown_honestly_continues_its_checkpoint(
    shell: Shell, path: Path
) -> None:
    (shell.folder / "before").write_text(shell.run("checkpoint").stdout)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(99, 1, 1))
    for source in ("--checkpoint before", "--checkpoint=- < before"):
        done = shell.script(f"ledger verify {source}")
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == f"{LENGTH + 1} events, 0 findings.\n"


def test_a_tail_that_was_cut_off_is_found_with_a_checkpoint_alone(
    shell: Shell, vandal: sqlite3.Connection
) -> None:
    before = shell.run("checkpoint").stdout
    damage(vandal, removal("resolution_events", f"sequence > {LENGTH - 5}"))
    assert shell.run("rebuild").returncode == 0
    assert shell.run("verify").returncode == 0
    done = shell.run("--json", "verify", "--checkpoint", "-", stdin=before.encode())
    assert done.returncode == 20
    assert json.loads(done.stdout) == {
        "kind": "checkpoint",
        "sequence": LENGTH,
        "instance": None,
        "expected": f"{LENGTH} events",
        "found": f"{LENGTH - 5} events",
    }


def test_a_log_that_went_another_way_is_found_with_a_checkpoint_alone(
    shell: Shell, vandal: sqlite3.Connection, path: Path
) -> None:
    before = shell.run("checkpoint").stdout
    damage(vandal, removal("resolution_events", f"sequence = {LENGTH}"))
    assert shell.run("rebuild").returncode == 0
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(98, 1, 1))
        ledger.resolve(record(99, 1, 1))
    assert shell.run("verify").returncode == 0
    done = shell.run("--json", "verify", "--checkpoint", "-", stdin=before.encode())
    assert done.returncode == 20
    finding = json.loads(done.stdout)
    assert (finding["kind"], finding["sequence"]) == ("checkpoint", LENGTH)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"nonsense",
        b"resolution-ledger/0123456789abcdef0123456789abcdef\n1\n",
        b"\xff\xfe\n1\n2\n",
        b"\0" * 100_000,
    ],
    ids=["nothing", "nonsense", "cut off", "no UTF-8", "zeros"],
)
def test_what_is_no_checkpoint_is_a_usage_error(shell: Shell, text: bytes) -> None:
    (shell.folder / "text").write_bytes(text)
    done = shell.run("verify", "--checkpoint", "text")
    assert (done.returncode, done.stdout) == (2, "")
    assert "checkpoint" in done.stderr


def test_rebuild_prints_what_it_mends_and_nothing_where_nothing_is_wrong(
    shell: Shell, path: Path
) -> None:
    empty(path)
    findings = shell.json("verify")
    done = shell.run("--json", "rebuild")
    assert done.returncode == 0
    assert [json.loads(line) for line in done.stdout.splitlines()] == findings
    assert done.stderr == f"{LENGTH} events, {len(findings)} parts and rows mended.\n"
    again = shell.run("rebuild")
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr == f"{LENGTH} events, 0 parts and rows mended.\n"
    assert shell.run("verify").stderr == CLEAN


def test_rebuild_makes_tables_that_have_gone(shell: Shell, path: Path) -> None:
    drop(path)
    done = shell.run("rebuild")
    assert done.returncode == 0
    assert "guard" in done.stdout
    assert shell.run("verify").stderr == CLEAN


def test_rebuild_stops_at_an_event_that_nobody_can_read(
    shell: Shell, vandal: sqlite3.Connection
) -> None:
    damage(vandal, DAMAGES["an event"])
    done = shell.run("rebuild")
    assert done.returncode == 1
    assert "CorruptLedger" in done.stderr
    assert "event 9" in done.stderr
