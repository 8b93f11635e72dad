"""The trail of attempts: in the order of commits, by pages, for all workspaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import islice, product
from pathlib import Path
from typing import get_args

import pytest

from integration.tampering import make_ledger
from paging import read_by
from resolution_ledger import (
    InvalidId,
    InvalidOption,
    InvalidText,
    LedgerAdmin,
    RecordedAttempt,
    ResolutionLedger,
)
from resolution_ledger.domain.records import Outcome
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record, response

LENGTH = 80

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a ledger is that all these tests only read."""
    path = tmp_path_factory.mktemp("trail") / "ledger.db"
    make_ledger(path, LENGTH)
    return path


def told(path: Path) -> list[RecordedAttempt]:
    """What is on record, as each workspace is told of its own attempts on every instance."""
    attempts = []
    for workspace in (WORKSPACE, OTHER_WORKSPACE):
        with ResolutionLedger.open(path, workspace=workspace) as door:
            for n in range(LENGTH):
                attempts += door.history(instance(n))
    return sorted(attempts, key=lambda attempt: attempt.sequence)


@pytest.mark.parametrize("size", [1000, 1, 7, LENGTH - 1, LENGTH, LENGTH + 1])
def test_attempts_are_told_in_the_order_of_commits_with_their_sequences(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """All of them, or those past a sequence, of a workspace, or of an outcome."""
    read_by(monkeypatch, size)
    everything = told(ledger)
    assert [attempt.sequence for attempt in everything] == [*range(1, LENGTH + 1)]
    with LedgerAdmin.open(ledger) as admin:
        for after, workspace, outcome in product(
            (0, 1, 7, 14, LENGTH - 1, LENGTH, LENGTH + 5, 2**63 - 1),
            (None, WORKSPACE, OTHER_WORKSPACE, "nobody"),
            (None, *OUTCOMES),
        ):
            assert [*admin.attempts(after, workspace, outcome)] == [
                attempt
                for attempt in everything
                if attempt.sequence > after
                and workspace in (None, attempt.workspace)
                and outcome in (None, attempt.outcome)
            ]
        assert {attempt.outcome for attempt in everything} == set(OUTCOMES)


@pytest.mark.parametrize("method", ["attempts", "state_at"])
def test_whoever_stops_half_way_keeps_nothing_from_being_checkpointed(
    path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Neither before the rest was read nor after it was, and each page is what is there then."""
    read_by(monkeypatch, 5)
    make_ledger(path, 20)
    with (
        LedgerAdmin.open(path) as admin,
        closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as foreign,
        ResolutionLedger.open(path, workspace=WORKSPACE) as door,
    ):
        door.resolve(record(1000, 1, 1))
        reading = admin.attempts() if method == "attempts" else admin.state_at(21)
        assert [attempt.sequence for attempt in islice(reading, 2)] == [1, 2]
        for n in (1, 2):
            door.resolve(record(1000 + n, 1, 1))
            busy, pages, _ = foreign.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert (busy, pages) == (0, 0)
        rest = [attempt.sequence for attempt in reading]
        assert rest[-1] == (23 if method == "attempts" else 21)
        assert foreign.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_who_had_won_or_closed_what_is_told_for_every_length_of_the_log(ledger: Path) -> None:
    """The first events of the instances among so many events, in the order of commits."""
    everything = told(ledger)
    with LedgerAdmin.open(ledger) as admin:
        for length in range(LENGTH + 1):
            firsts: dict[object, RecordedAttempt] = {}
            for attempt in everything[:length]:
                firsts.setdefault(attempt.instance, attempt)
            assert [*admin.state_at(length)] == [*firsts.values()]


def test_history_and_resolution_are_those_of_all_workspaces(ledger: Path) -> None:
    """For each instance: all attempts by position, and the first of them."""
    everything = told(ledger)
    with LedgerAdmin.open(ledger) as admin:
        for n in range(LENGTH):
            own = [attempt for attempt in everything if attempt.instance == instance(n)]
            assert list(admin.history(instance(n))) == own
            assert admin.resolution(instance(n)) == (own[0] if own else None)


@pytest.mark.parametrize("limit", [1, 3, 1000, 2**63 - 1])
def test_contested_instances_are_those_with_the_most_different_answers(
    ledger: Path, limit: int
) -> None:
    """With how many there were, how often, and how close it was. No withdrawal is an answer."""
    everything = told(ledger)
    expected = []
    for first in (attempt for attempt in everything if attempt.position == 1):
        others = [
            attempt
            for attempt in everything
            if attempt.instance == first.instance and attempt.response not in (first.response, None)
        ]
        if others:
            margin = min(attempt.tick for attempt in others) - first.tick
            answers = {first.response, *(attempt.response for attempt in others)} - {None}
            expected.append((first, len(answers), len(others), margin))
    expected.sort(key=lambda contest: (-contest[1], -contest[2], contest[0].instance.text))
    assert len(expected) > 3
    assert {first.outcome for first, *_ in expected} >= {"won", "adopted", "closed"}
    with LedgerAdmin.open(ledger) as admin:
        found = admin.contested(limit)
    assert [(c.first, c.answers, c.attempts, c.margin) for c in found] == expected[:limit]


BAD_CALLS: dict[str, tuple[type[Exception], Callable[[LedgerAdmin], object]]] = {
    **{
        f"{method}({value!r})": (
            InvalidOption,
            lambda admin, method=method, value=value: getattr(admin, method)(value),
        )
        for method in ("attempts", "state_at")
        for value in (-1, 2**63, True, 1.0, "1", None, b"1")
    },
    **{
        f"contested({value!r})": (InvalidOption, lambda admin, value=value: admin.contested(value))
        for value in (0, -1, 2**63, True, 1.0, "1", None)
    },
    **{
        f"outcome={value!r}": (
            InvalidOption,
            lambda admin, value=value: admin.attempts(outcome=value),
        )
        for value in ("", "Won", "annulled", b"won", 5, ["won"])
    },
    **{
        f"workspace={value!r}"[:40]: (
            InvalidText,
            lambda admin, value=value: admin.attempts(workspace=value),
        )
        for value in ("", "\0", "\ud800", "x" * 513, b"ws-1", 5)
    },
    **{
        f"{method}({value!r})": (
            InvalidId,
            lambda admin, method=method, value=value: getattr(admin, method)(value),
        )
        for method in ("history", "resolution")
        for value in (instance(1).text, response(1), None)
    },
    "state_at past the end": (InvalidOption, lambda admin: admin.state_at(LENGTH + 1)),
}


@pytest.mark.parametrize(("error", "call"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_what_cannot_be_asked_is_refused_at_once(
    ledger: Path, error: type[Exception], call: Callable[[LedgerAdmin], object]
) -> None:
    """And not when the first attempt is asked for."""
    with LedgerAdmin.open(ledger) as admin, pytest.raises(error):
        call(admin)
