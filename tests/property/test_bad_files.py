"""Damaged files get named errors out of us, or right answers; and ``verify`` sees the difference.

No call but ``verify`` looks at more than it needs. Where pages of an index are damaged such that
events are hidden from those who decide, or texts such that they are others, only ``verify`` sees.
"""

from __future__ import annotations

import faulthandler
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inside import files_in
from property.damage import (
    IN_THE_LOG,
    LENGTH,
    damages,
    make_original,
    read_all,
    submit_again,
    told,
)
from resolution_ledger import (
    InvalidCheckpoint,
    LedgerAdmin,
    NotALedger,
    ResolutionLedger,
)
from samples import WORKSPACE, record

EXAMPLES = int(os.environ.get("BAD_FILES", "0"))
"""How many of each, if more are wanted than a profile draws."""

HANGS = 120
"""Seconds after which an example counts as hanging: the process ends, and shows where it was."""

more = settings(max_examples=EXAMPLES) if EXAMPLES else settings()

ORIGINAL = make_original()


@pytest.fixture(autouse=True)
def no_endless_loop() -> Iterator[None]:
    yield
    faulthandler.cancel_dump_traceback_later()


def written(folder: str, database: bytes, log: bytes = b"") -> Path:
    """A ledger's files, as somebody finds them."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    path = Path(folder, "ledger.db")
    path.write_bytes(database)
    if log:
        Path(f"{path}-wal").write_bytes(log)
    return path


def findings(path: Path, checkpoint: str | None = None) -> object:
    """How many verify has, or its error."""
    with LedgerAdmin.open(path, lock_timeout=1) as admin:
        return told(lambda: admin.verify(checkpoint).count)


@more
@given(damages(len(ORIGINAL.database)))
def test_a_damaged_database_is_only_read_and_what_it_says_is_right_unless_verify_finds_it(
    damage: Callable[[bytes], bytes],
) -> None:
    with TemporaryDirectory() as folder:
        path = written(folder, damage(ORIGINAL.database))
        before = files_in(path.parent)
        found, reads = findings(path), read_all(path)
        assert files_in(path.parent) == before
        again = submit_again(path, ORIGINAL.submitted)
        if found == 0:
            assert reads == ORIGINAL.reads
            assert again == ORIGINAL.retransmissions


@more
@given(damages(len(ORIGINAL.log)))
def test_a_damaged_log_leaves_an_older_ledger_or_verify_finds_it(
    damage: Callable[[bytes], bytes],
) -> None:
    with TemporaryDirectory() as folder:
        path = written(folder, ORIGINAL.older, damage(ORIGINAL.log))
        if findings(path) == 0:
            with LedgerAdmin.open(path) as admin:
                attempts = (*admin.attempts(),)
            whole = ORIGINAL.reads["attempts"]
            assert isinstance(whole, tuple)
            assert attempts == whole[: len(attempts)]
            assert len(attempts) >= LENGTH - IN_THE_LOG
        read_all(path)
        submit_again(path, ORIGINAL.submitted)


def test_the_log_of_another_ledger_is_found() -> None:
    other = make_original()
    with TemporaryDirectory() as folder:
        path = written(folder, ORIGINAL.older, other.log)
        assert findings(path) != 0
        read_all(path)
        submit_again(path, ORIGINAL.submitted)


@more
@given(damages(len(ORIGINAL.database)))
def test_what_is_rebuilt_from_a_damaged_database_is_what_its_log_demands(
    damage: Callable[[bytes], bytes],
) -> None:
    """Or it is refused. What the log itself has suffered stays as it is."""
    with TemporaryDirectory() as folder:
        path = written(folder, damage(ORIGINAL.database))
        with LedgerAdmin.open(path, lock_timeout=1) as admin:
            before = told(lambda: (*admin.attempts(),))
            told(lambda: admin.rebuild().count)
            after = told(lambda: (*admin.attempts(),))
        if isinstance(before, tuple) and isinstance(after, tuple):
            assert before == after
        if findings(path) == 0:
            assert read_all(path) == ORIGINAL.reads


@more
@given(damages(len(ORIGINAL.export)))
def test_a_damaged_export_is_refused_and_makes_no_file_or_makes_the_same_ledger(
    damage: Callable[[bytes], bytes],
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "ledger.db")
        faulthandler.dump_traceback_later(HANGS, exit=True)
        with LedgerAdmin.open(path) as admin:
            checkpoint = told(admin.import_, io.BytesIO(damage(ORIGINAL.export)))
        if checkpoint == ORIGINAL.checkpoint:
            assert read_all(path) == ORIGINAL.reads
            assert findings(path) == 0
        else:
            assert isinstance(checkpoint, type)
            assert os.listdir(folder) == []


@more
@given(st.data())
def test_a_checkpoint_that_was_altered_is_refused_or_not_met(data: st.DataObject) -> None:
    altered = data.draw(damages(len(ORIGINAL.checkpoint)))(ORIGINAL.checkpoint.encode())
    text = altered.decode(errors="surrogateescape")
    with TemporaryDirectory() as folder:
        found = findings(written(folder, ORIGINAL.database), text)
    if text.startswith(ORIGINAL.checkpoint):
        assert found == 0
    else:
        assert found is InvalidCheckpoint or found != 0


@pytest.mark.parametrize("content", [b"x", b"\n", b"\0", b"S"])
def test_a_file_of_one_byte_is_no_empty_one(path: Path, content: bytes) -> None:
    """SQLite takes it for one."""
    path.write_bytes(content)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        for call in (ledger.create, lambda: ledger.resolve(record(1, 1, 1)), ledger.losers):
            with pytest.raises(NotALedger):
                call()
    with LedgerAdmin.open(path) as admin, pytest.raises(NotALedger):
        admin.import_(io.BytesIO(ORIGINAL.export))
    assert files_in(path.parent) == {path.name: content}
