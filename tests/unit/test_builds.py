"""Builds of SQLite, by what is known of their versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from resolution_ledger.infra.sqlite import builds

FAULTY = [
    (3, 7, 0), (3, 22, 0), (3, 40, 1), (3, 44, 0), (3, 44, 5), (3, 45, 0), (3, 45, 9), (3, 49, 2),
    (3, 50, 0), (3, 50, 6), (3, 51, 0), (3, 51, 2),
]  # fmt: skip
SOUND = [
    (3, 6, 23), (3, 44, 6), (3, 44, 7), (3, 50, 7), (3, 50, 8), (3, 51, 3), (3, 51, 4), (3, 52, 0),
    (4, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize("version", FAULTY, ids=str)
def test_builds_with_the_wal_reset_fault_are_known(version: tuple[int, ...]) -> None:
    assert builds.has_wal_reset_fault(version)


@pytest.mark.parametrize("version", SOUND, ids=str)
def test_builds_from_before_it_and_those_in_which_it_is_mended_do_not_have_it(
    version: tuple[int, ...],
) -> None:
    assert not builds.has_wal_reset_fault(version)


@pytest.mark.parametrize(
    ("version", "shared", "level"),
    [
        (FAULTY[2], False, "note"),
        (FAULTY[2], True, "warning"),
        (SOUND[1], False, "fine"),
        (SOUND[1], True, "fine"),
    ],
)
def test_such_a_build_is_a_matter_for_whoever_shares_the_database(
    monkeypatch: pytest.MonkeyPatch, *, version: tuple[int, ...], shared: bool, level: str
) -> None:
    text = ".".join(map(str, version))
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    monkeypatch.setattr(sqlite3, "sqlite_version", text)
    first, _ = builds.observed(shared=shared)
    assert (first.subject, first.found, first.level) == ("sqlite", text, level)
    assert (first.advice is None) == (level == "fine")


@pytest.mark.parametrize(
    ("safety", "mode", "level"),
    [(0, "single-thread", "warning"), (1, "multi-thread", "fine"), (3, "serialized", "fine")],
)
def test_a_build_without_threads_is_warned_of(safety: int, mode: str, level: str) -> None:
    seen = builds.threading_mode(safety)
    assert (seen.found, seen.level) == (mode, level)


def test_what_programs_get_that_ask_for_no_durability_is_told_where_it_is_less() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        options = {name for (name,) in connection.execute("PRAGMA compile_options")}
        seen = builds.durability(connection)
    weak = {f"DEFAULT_{kind}SYNCHRONOUS={n}" for kind in ("", "WAL_") for n in (0, 1)} & options
    assert seen.found == "full"
    assert seen.advice is not None
    assert ("programs that say nothing" in seen.advice) == bool(weak)


class Build:
    """A connection, as far as it is asked."""

    def __init__(self, *options: str) -> None:
        self._options = options

    def execute(self, _: str) -> Build:
        return self

    def fetchall(self) -> list[tuple[str]]:
        return [(option,) for option in self._options]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("THREADSAFE=1",), None),
        (("DEFAULT_SYNCHRONOUS=2", "DEFAULT_WAL_SYNCHRONOUS=2"), None),
        (("DEFAULT_SYNCHRONOUS=2", "DEFAULT_WAL_SYNCHRONOUS=1"), "synchronous=1"),
        (("DEFAULT_SYNCHRONOUS=0",), "synchronous=0"),
        (("DEFAULT_SYNCHRONOUS=0", "DEFAULT_WAL_SYNCHRONOUS=3"), None),
    ],
)
def test_in_wal_mode_the_default_for_wal_mode_counts(
    options: tuple[str, ...], said: str | None
) -> None:
    advice = builds.durability(Build(*options)).advice  # type: ignore[arg-type]
    assert advice is not None
    assert ("synchronous=" in advice) == (said is not None)
    assert said is None or said in advice
