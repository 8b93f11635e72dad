"""The operator's door: what it makes, how it ends, and what it says of damage."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from inside import all_rows, definitions, files_in
from integration.edits import ALL_EDITS, EDITS, OTHER_OUTCOMES
from integration.tampering import Specimen, edit, make_empty, make_ledger, removal
from resolution_ledger import (
    CorruptLedger,
    InstanceId,
    InvalidOption,
    LedgerAdmin,
    LedgerClosed,
    NotALedger,
    NothingToAdopt,
    ResolutionLedger,
    StoreUnavailable,
    Won,
)
from samples import WORKSPACE, instance, record

Call = Callable[[LedgerAdmin], object]

READING: dict[str, Call] = {
    "attempts": lambda admin: list(admin.attempts()),
    "state_at": lambda admin: list(admin.state_at(0)),
    "history": lambda admin: admin.history(instance(1)),
    "resolution": lambda admin: admin.resolution(instance(1)),
    "contested": lambda admin: admin.contested(),
    "verify": lambda admin: admin.verify(),
    "checkpoint": lambda admin: admin.checkpoint(),
    "export": lambda admin: admin.export(io.BytesIO()),
}

WRITING: dict[str, Call] = {
    "rebuild": lambda admin: admin.rebuild(),
    "adopt": lambda admin: admin.adopt(),
}

CALLS = READING | WRITING

each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)

LENGTH = 32


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """A ledger for all tests of damage, which do it in turn."""
    path = tmp_path_factory.mktemp("damaged") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


@each_call
def test_where_there_is_no_file_none_is_made(path: Path, call: Call) -> None:
    """Only what makes a ledger makes a file: a mistyped path is an error."""
    with LedgerAdmin.open(path) as admin:
        for _ in range(2):
            with pytest.raises((StoreUnavailable, NothingToAdopt)):
                call(admin)
    assert files_in(path.parent) == {}


@each_call
def test_a_database_without_a_ledger_is_left_as_it_is(path: Path, call: Call) -> None:
    """It is somebody else's."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE theirs (number)")
    before = files_in(path.parent)
    with LedgerAdmin.open(path) as admin, pytest.raises((NotALedger, NothingToAdopt)):
        call(admin)
    assert files_in(path.parent) == before


@pytest.mark.parametrize("name", [name for name in CALLS if name != "adopt"])
def test_reading_changes_nothing(path: Path, name: str) -> None:
    """Nor does a rebuild where nothing is wrong."""
    make_ledger(path, 20)
    with (
        LedgerAdmin.open(path) as admin,
        closing(sqlite3.connect(path, isolation_level=None)) as connection,
    ):
        before = all_rows(connection), definitions(connection)
        version = connection.execute("PRAGMA data_version").fetchone()
        CALLS[name](admin)
        assert connection.execute("PRAGMA data_version").fetchone() == version
        assert (all_rows(connection), definitions(connection)) == before


@pytest.mark.parametrize("target", ["file", ":memory:"])
def test_after_it_was_closed_everything_is_refused(path: Path, target: str) -> None:
    """Also what is read half-way; it may be closed twice."""
    make_ledger(path, 20)
    admin = LedgerAdmin.open(path if target == "file" else ":memory:")
    reading = admin.attempts()
    later = admin.attempts()
    if target == "file":
        next(reading)
    admin.close()
    admin.close()
    import_: Call = lambda admin: admin.import_(io.BytesIO(export))  # noqa: E731 (said to be a type)
    with LedgerAdmin.open(path) as other:
        file = io.BytesIO()
        other.export(file)
        export = file.getvalue()
    for call in (*CALLS.values(), import_, lambda _: next(later)):
        with pytest.raises(LedgerClosed):
            call(admin)


def test_the_door_is_closed_behind_whoever_leaves_with_an_error(path: Path) -> None:
    """As behind everybody."""
    make_empty(path)
    with suppress(KeyboardInterrupt), LedgerAdmin.open(path) as admin:
        assert admin.verify().clean
        raise KeyboardInterrupt
    with pytest.raises(LedgerClosed):
        admin.verify()


@pytest.mark.parametrize("value", [-1, True, "5", None, float("nan")])
def test_a_time_to_wait_that_is_none_is_refused(path: Path, value: object) -> None:
    """As at the other door."""
    with pytest.raises(InvalidOption):
        LedgerAdmin.open(path, lock_timeout=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("target", ["", "postgres://somewhere", "a\0b", 5, b"ledger.db"])
def test_what_is_no_path_is_refused(target: object) -> None:
    """As at the other door."""
    with pytest.raises(InvalidOption):
        LedgerAdmin.open(target)  # type: ignore[arg-type]


UNREADABLE = [
    (column, name)
    for column, name in ALL_EDITS
    if (column == "topic" and name not in OTHER_OUTCOMES)
    or (column == "originator_id" and name not in {"of another stream", "of no stream"})
    or (column == "state" and name != "of another event" and not name.startswith("a bit of"))
]


@pytest.mark.parametrize(("column", "name"), UNREADABLE)
def test_an_event_that_cannot_be_read_is_named(damaged: Specimen, column: str, name: str) -> None:
    """After those before it were told; none is skipped."""
    damaged.damage(edit(column, EDITS[column][name], 9))
    sequences = []
    with pytest.raises(CorruptLedger) as error:
        sequences.extend(attempt.sequence for attempt in damaged.admin.attempts())
    assert error.value.sequence == 9
    assert sequences == [*range(1, 9)]
    with pytest.raises(CorruptLedger) as error:
        list(damaged.admin.state_at(LENGTH))
    assert error.value.sequence == 9
    assert [attempt.sequence for attempt in damaged.admin.attempts(after=9)] == [
        *range(10, LENGTH + 1)
    ]


@pytest.mark.parametrize(
    ("column", "name"), [edit for edit in UNREADABLE if edit[0] != "originator_id"]
)
def test_history_names_an_event_that_cannot_be_read(
    damaged: Specimen, column: str, name: str
) -> None:
    """So does what resolved the instance, if that is the event."""
    (first, stream), (later, other) = damaged.connection.execute(
        "SELECT min(sequence), originator_id FROM sound_resolution_events"
        " WHERE originator_version IN (1, 2) AND sequence > 4 GROUP BY originator_version"
    ).fetchall()
    damaged.damage(edit(column, EDITS[column][name], first))
    for ask in (damaged.admin.history, damaged.admin.resolution):
        with pytest.raises(CorruptLedger) as error:
            ask(InstanceId(stream))
        assert error.value.sequence == first
    damaged.damage(edit(column, EDITS[column][name], later))
    with pytest.raises(CorruptLedger) as error:
        damaged.admin.history(InstanceId(other))
    assert error.value.sequence == later


def test_an_instance_whose_first_event_is_gone_is_not_said_to_be_open(damaged: Specimen) -> None:
    """It was resolved, and nobody can tell by whom."""
    first = f"originator_id = '{instance(0)}' AND originator_version = 1"
    damaged.damage(removal("resolution_events", first))
    with pytest.raises(CorruptLedger):
        damaged.admin.resolution(instance(0))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE losing_attempts SET attempted_tick = 'noon'",
        "UPDATE losing_attempts SET attempted_tick = x'ff'",
        "UPDATE losing_attempts SET response_id = CAST(x'ff' AS TEXT)",
        "UPDATE losing_attempts SET response_id = x'ff'",
    ],
)
def test_a_contest_that_cannot_be_read_is_damage(damaged: Specimen, damage: str) -> None:
    """Or does not matter; it is never another failure."""
    damaged.damage(damage)
    with suppress(CorruptLedger):
        assert all(isinstance(contest.margin, int) for contest in damaged.admin.contested())


@pytest.mark.parametrize(
    "value",
    ["'no id'", "x'ff'", "''", "CAST(x'ff' AS TEXT)"],
    ids=["text", "bytes", "empty", "raw"],
)
def test_a_contest_about_no_instance_is_damage(damaged: Specimen, value: str) -> None:
    """It is named as such."""
    damaged.damage(
        removal("interaction_resolutions", f"instance_id <> '{instance(0)}'"),
        f"UPDATE interaction_resolutions SET instance_id = {value}",  # noqa: S608
        f"UPDATE losing_attempts SET instance_id = {value}",  # noqa: S608
    )
    with pytest.raises(CorruptLedger):
        damaged.admin.contested()


def test_a_ledger_that_is_in_use_is_read_as_it_is_now(path: Path) -> None:
    """An admin keeps nothing in mind."""
    make_empty(path)
    with (
        LedgerAdmin.open(path) as admin,
        ResolutionLedger.open(path, workspace=WORKSPACE) as ledger,
    ):
        for n in range(1, 4):
            assert ledger.resolve(record(n, 1, 1)) == Won()
            assert admin.verify(admin.checkpoint()).length == n
            assert len(list(admin.attempts())) == len(list(admin.state_at(n))) == n
