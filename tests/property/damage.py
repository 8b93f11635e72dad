"""Ledgers of which the files are damaged, and what may be said of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from answers import answer
from integration.tampering import make_ledger
from resolution_ledger import LedgerAdmin, ResolutionError, ResolutionLedger
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record
from submissions import Submitted

LENGTH, IN_THE_LOG = 60, 10
"""Events; and how many of them stand in the write-ahead log alone."""
PAGE = 4096

Answers = dict[str, object]


class Original(Struct, frozen=True):
    """A sound ledger: its bytes, and what it answers."""

    database: bytes
    """All of it."""
    older: bytes
    """What the log is added to, to give the same."""
    log: bytes
    submitted: list[Submitted]
    reads: Answers
    retransmissions: Answers
    export: bytes
    checkpoint: str


def make_original() -> Original:
    """The same one each time, but for its identity."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "ledger.db")
        submitted = make_ledger(path, LENGTH - IN_THE_LOG)
        with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
            for n in range(IN_THE_LOG):
                ledger.resolve(record(n % 3, 100 + n, 100 + n))
            older, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
        export = io.BytesIO()
        with LedgerAdmin.open(path) as admin:
            checkpoint = admin.export(export)
        return Original(
            path.read_bytes(),
            older,
            log,
            submitted,
            read_all(path),
            submit_again(path, submitted),
            export.getvalue(),
            checkpoint,
        )


def read_all(path: Path) -> Answers:
    """What every call that reads says; errors of ours by name. No other errors get out."""
    answers: Answers = {}
    for workspace in (WORKSPACE, OTHER_WORKSPACE):
        with ResolutionLedger.open(path, workspace=workspace, lock_timeout=1) as ledger:
            answers |= _callers(ledger)
    with LedgerAdmin.open(path, lock_timeout=1) as admin:
        answers |= _operators(admin)
    return answers


def submit_again(path: Path, submitted: list[Submitted]) -> Answers:
    """What is told to some of those who submitted before."""
    answers: Answers = {}
    for n, (workspace, submission) in list(enumerate(submitted))[::7]:
        with ResolutionLedger.open(path, workspace=workspace, lock_timeout=1) as ledger:
            answers[f"again {n}"] = told(answer, ledger, submission)
    return answers


def _callers(ledger: ResolutionLedger) -> Answers:
    answers: Answers = {f"losers {ledger.workspace}": told(ledger.losers, 1000)}
    for n in range(0, 12, 2):
        name = f"{n} {ledger.workspace}"
        answers |= {
            f"winner {name}": told(ledger.winner, instance(n)),
            f"history {name}": told(ledger.history, instance(n)),
            f"wait {name}": told(ledger.wait, instance(n), 0),
        }
    return answers


def _operators(admin: LedgerAdmin) -> Answers:
    return {
        "attempts": told(lambda: (*admin.attempts(),)),
        "state": told(lambda: (*admin.state_at(LENGTH),)),
        "contested": told(admin.contested, 1000),
        "resolution": told(admin.resolution, instance(0)),
        "checkpoint": told(admin.checkpoint),
        "export": told(_exported, admin),
    }


def _exported(admin: LedgerAdmin) -> bytes:
    file = io.BytesIO()
    admin.export(file)
    return file.getvalue()


def told(call: Callable[..., object], *values: Any) -> object:
    """What it returns; the type of an error, which is one of ours."""
    try:
        return call(*values)
    except ResolutionError as error:
        return type(error)


# Damage


def damages(length: int) -> st.SearchStrategy[Callable[[bytes], bytes]]:
    """One to three changes of bytes of about this length."""
    place = st.one_of(
        st.integers(0, length - 1),
        st.integers(0, min(length, 200) - 1),  # the header
        st.builds(  # that of a page, with its pointers to the cells
            lambda page, within: page * PAGE + within,
            st.integers(0, max(0, length // PAGE - 1)),
            st.integers(0, 60),
        ),
    )
    changes = st.one_of(
        st.builds(_flip, place, st.integers(0, 7)),
        st.builds(_flip, place, st.integers(0, 7)),
        st.builds(_overwrite, place, st.binary(min_size=1, max_size=64)),
        st.builds(_fill, place, st.sampled_from([1, 2, 16, 512, PAGE]), st.sampled_from(b"\0\xff")),
        st.builds(_cut, place),
        st.builds(_insert, place, st.binary(min_size=1, max_size=16)),
        st.builds(_copy_page, st.integers(0, length // PAGE), st.integers(0, length // PAGE)),
    )
    return st.lists(changes, min_size=1, max_size=3).map(_all)


def _all(changes: list[Callable[[bytes], bytes]]) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        for change in changes:
            data = change(data)
        return data

    return damage


def _flip(place: int, bit: int) -> Callable[[bytes], bytes]:
    return lambda data: _with(data, place, bytes([data[place % len(data)] ^ 1 << bit]))


def _overwrite(place: int, values: bytes) -> Callable[[bytes], bytes]:
    return lambda data: _with(data, place, values)


def _fill(place: int, length: int, value: int) -> Callable[[bytes], bytes]:
    return lambda data: _with(data, place, bytes([value]) * length)


def _with(data: bytes, place: int, values: bytes) -> bytes:
    place %= len(data)
    return (data[:place] + values + data[place + len(values) :])[: len(data)]


def _cut(place: int) -> Callable[[bytes], bytes]:
    return lambda data: data[: max(1, place % len(data))]


def _insert(place: int, values: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[: place % len(data)] + values + data[place % len(data) :]


def _copy_page(source: int, target: int) -> Callable[[bytes], bytes]:
    return lambda data: _with(
        data, target * PAGE, data[source * PAGE % len(data) :][:PAGE] or b"\0"
    )
