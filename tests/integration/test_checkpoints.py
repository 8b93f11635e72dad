"""Checkpoints: what no look at a ledger alone can show, a text kept elsewhere shows."""

from __future__ import annotations

import re
import shutil
import sqlite3
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import chains
from integration.tampering import (
    Specimen,
    edit,
    guards_dropped,
    make_empty,
    make_ledger,
    rehash,
    removal,
)
from resolution_ledger import (
    CorruptLedger,
    Finding,
    LedgerAdmin,
    ResolutionLedger,
)
from samples import WORKSPACE, record

LENGTH = 41

GOLDEN = """\
resolution-ledger/00112233445566778899aabbccddeeff
2
coOgBFq6/dcf7EEYApjluwDcms2jRLvXMdRg6VBcvF0=
"""
"""Of the ledger of this name in which response 1 won instance 1 at tick 1, and 2 lost at 2."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """One for all tests, which damage it in turn."""
    path = tmp_path_factory.mktemp("log") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


@pytest.fixture
def checkpoint(ledger: Specimen) -> str:
    """Of the sound ledger."""
    ledger.damage()
    return ledger.admin.checkpoint()


def kinds(findings: tuple[Finding, ...]) -> set[str]:
    """What kinds of findings there are."""
    return {finding.kind for finding in findings}


def first_lines(connection: sqlite3.Connection, length: int) -> str:
    """The checkpoint of a log cut to a length, made without the package."""
    ((ledger_id,),) = connection.execute("SELECT ledger_id FROM resolution_ledger_meta")
    events = connection.execute(
        "SELECT sequence, originator_id, originator_version, topic, state"
        "  FROM resolution_events WHERE sequence <= ? ORDER BY sequence",
        (length,),
    )
    digest = [chains.origin(ledger_id), *chains.hashes(ledger_id, events)][-1]
    return f"resolution-ledger/{ledger_id}\n{length}\n{b64encode(digest).decode()}\n"


def test_a_checkpoint_is_three_lines_that_stay_as_they_are_for_good(path: Path) -> None:
    """Whoever kept one years ago must be able to use it."""
    make_empty(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "UPDATE resolution_ledger_meta SET ledger_id = '00112233445566778899aabbccddeeff'"
        )
    ticks = iter([1, 2])
    with ResolutionLedger.open(path, workspace=WORKSPACE, clock=lambda: next(ticks)) as ledger:
        ledger.resolve(record(1, 1, 1))
        ledger.resolve(record(1, 2, 2))
    with LedgerAdmin.open(path) as admin:
        assert admin.checkpoint() == GOLDEN
        assert admin.verify(GOLDEN).clean


def test_a_checkpoint_commits_to_the_whole_log(ledger: Specimen, checkpoint: str) -> None:
    """Its hash is the last of the chain."""
    assert checkpoint == first_lines(ledger.connection, LENGTH)


@pytest.mark.parametrize("length", [0, 1, 5, LENGTH - 1, LENGTH])
def test_what_grew_honestly_since_passes(ledger: Specimen, checkpoint: str, length: int) -> None:
    """From any length on, none included."""
    assert checkpoint
    assert ledger.admin.verify(first_lines(ledger.connection, length)).clean


def test_an_empty_ledger_has_a_checkpoint_and_may_grow(path: Path) -> None:
    """It commits to the identity alone."""
    make_empty(path)
    with LedgerAdmin.open(path) as admin:
        empty = admin.checkpoint()
        assert re.fullmatch(r"resolution-ledger/[0-9a-f]{32}\n0\n[A-Za-z0-9+/]{43}=\n", empty)
        assert admin.verify(empty).clean
        other = f"{empty[:-45]}{b64encode(bytes(32)).decode()}\n"
        assert kinds(admin.verify(other).findings) == {"checkpoint"}
        with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
            ledger.resolve(record(1, 1, 1))
        assert admin.verify(empty).clean
        assert admin.checkpoint() != empty


@pytest.mark.parametrize("cut", [1, 10, LENGTH], ids=["one event", "ten events", "all events"])
def test_a_tail_that_was_cut_off_is_found(ledger: Specimen, checkpoint: str, cut: int) -> None:
    """By an earlier checkpoint alone, once the read models were made anew."""
    ledger.damage(removal("resolution_events", f"sequence > {LENGTH - cut}"))
    assert not ledger.admin.verify().clean
    ledger.admin.rebuild()
    assert ledger.admin.verify().clean
    assert ledger.admin.verify(first_lines(ledger.connection, LENGTH - cut)).clean
    assert ledger.admin.verify(checkpoint).findings == (
        Finding("checkpoint", LENGTH, None, f"{LENGTH} events", f"{LENGTH - cut} events"),
    )


def test_a_tail_that_grew_again_is_found(ledger: Specimen, checkpoint: str) -> None:
    """By the hash, where the log is as long as it was or longer."""
    ledger.damage(removal("resolution_events", f"sequence > {LENGTH - 3}"))
    ledger.admin.rebuild()
    ((path,),) = ledger.connection.execute("SELECT file FROM pragma_database_list LIMIT 1")
    with ResolutionLedger.open(path, workspace=WORKSPACE, durability="normal") as door:
        for n in range(5):
            door.resolve(record(1000 + n, 1, 1))
            findings = ledger.admin.verify(checkpoint).findings
            assert [(f.kind, f.sequence) for f in findings] == [("checkpoint", LENGTH)]
    assert ledger.admin.verify().length == LENGTH + 2
    assert ledger.admin.verify().clean


def test_an_older_copy_that_was_put_back_is_found(path: Path, tmp_path: Path) -> None:
    """It was the ledger once, and lacks what happened since."""
    make_ledger(path, 20)
    shutil.copy(path, tmp_path / "copy.db")
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1000, 1, 1))
    with LedgerAdmin.open(path) as admin:
        checkpoint = admin.checkpoint()
    shutil.copy(tmp_path / "copy.db", path)
    with LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
        assert kinds(admin.verify(checkpoint).findings) == {"checkpoint"}


REWRITINGS = {
    "a tick": edit("state", "flip(state, -1)", 20),
    "a label": (
        "UPDATE resolution_events SET state = CAST(replace(state, 'tty', 'TTY') AS BLOB)"
        " WHERE instr(state, 'tty')"
    ),
    "the tick of the first event": edit("state", "flip(state, -1)", 1),
}


@pytest.mark.parametrize("rewriting", REWRITINGS.values(), ids=REWRITINGS)
def test_a_chain_that_was_written_anew_is_found(
    ledger: Specimen, checkpoint: str, rewriting: str
) -> None:
    """By a checkpoint alone, where the rules bear out what it says now."""
    ledger.damage(rewriting)
    assert "hash" in kinds(ledger.verify())
    with guards_dropped(ledger.connection):
        rehash(ledger.connection)
    ledger.admin.rebuild()
    assert ledger.admin.verify().clean
    (finding,) = ledger.admin.verify(checkpoint).findings
    assert (finding.kind, finding.sequence) == ("checkpoint", LENGTH)
    assert re.fullmatch("[0-9a-f]{64}", str(finding.expected))
    assert re.fullmatch("[0-9a-f]{64}", str(finding.found))


def test_a_checkpoint_from_before_the_first_event_that_was_changed_still_passes(
    ledger: Specimen, checkpoint: str
) -> None:
    """It says nothing of what came after it."""
    before = [first_lines(ledger.connection, length) for length in (0, 19, 20, LENGTH)]
    assert before[-1] == checkpoint
    ledger.damage(REWRITINGS["a tick"])
    with guards_dropped(ledger.connection):
        rehash(ledger.connection)
    ledger.admin.rebuild()
    assert [ledger.admin.verify(text).clean for text in before] == [True, True, False, False]


def test_a_checkpoint_of_another_ledger_is_found(ledger: Specimen, path: Path) -> None:
    """Also of one in which the same happened, and of one without events."""
    ledger.damage()
    make_empty(path)
    with LedgerAdmin.open(path) as admin:
        empty = admin.checkpoint()
        path.unlink()
    make_ledger(path, LENGTH)
    with LedgerAdmin.open(path) as admin:
        for other in (empty, admin.checkpoint()):
            assert kinds(ledger.admin.verify(other).findings) == {"checkpoint"}
            named = {finding.expected for finding in ledger.admin.verify(other).findings}
            assert other[len("resolution-ledger/") :][:32] in named


def test_what_a_checkpoint_shows_is_told_beside_all_else(ledger: Specimen, checkpoint: str) -> None:
    """And the other way round."""
    plain = ledger.findings(edit("state", "flip(state, -1)", 20))
    assert ledger.admin.verify(checkpoint).findings == plain
    plain = ledger.findings(edit("hash", "zeroblob(32)", LENGTH))
    found = ledger.admin.verify(checkpoint).findings
    assert kinds(found[:1]) == {"checkpoint"}
    assert found[1:] == plain
    ledger.damage(edit("hash", "'text'", LENGTH))
    assert kinds(ledger.admin.verify(checkpoint).findings) == {"checkpoint", "event"}
    ledger.damage(edit("sequence", 1000, LENGTH))
    assert kinds(ledger.admin.verify(checkpoint).findings) >= {"checkpoint", "sequence"}


def test_a_checkpoint_that_somebody_has_signed_is_one(ledger: Specimen, checkpoint: str) -> None:
    """What stands behind it is left to whoever put it there."""
    assert ledger.admin.verify(f"{checkpoint}\n\u2014 somebody AAAAAAAA\n").clean


def test_a_length_past_all_that_a_log_can_have_is_found(ledger: Specimen, checkpoint: str) -> None:
    """It is no such ledger's, and no failure of a database either."""
    longer = checkpoint.replace(f"\n{LENGTH}\n", f"\n{'9' * 19}\n")
    assert kinds(ledger.admin.verify(longer).findings) == {"checkpoint"}


def test_there_is_no_checkpoint_of_what_has_no_hash(ledger: Specimen) -> None:
    """The event is named."""
    ledger.damage(edit("hash", 5, LENGTH))
    with pytest.raises(CorruptLedger) as error:
        ledger.admin.checkpoint()
    assert error.value.sequence == LENGTH
