"""A path is a path, whatever characters it has; only ``":memory:"`` and URLs are special."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inside import OpenLedger
from resolution_ledger import (
    InvalidOption,
    ResolutionError,
    ResolutionLedger,
    StoreUnavailable,
    Won,
)
from samples import WORKSPACE, instance, record, response

NAMES = [
    "ledger.db",
    "with space.db",
    "a?mode=memory",
    "a?mode=ro&cache=shared",
    "a#b.db",
    "100%.db",
    "%41%00.db",
    "file:x.db",
    "file:x.db?mode=memory",
    "sqlite:x.db",
    "C:x.db",
    "mode=memory",
    ":memory:",
    "x:memory:",
    ":memory:.db",
    'it\'s "quoted".db',
    "semi;colon--.db",
    "back\\slash.db",
    "-leading.db",
    "~tilde.db",
    "$HOME.db",
    "\u00fc\u6f22\U0001f600.db",
    "e\u0301.db",
    "new\nline\ttab.db",
    "\x01\x7f.db",
    "trailing ",
    "no-utf-8-\udcff.db",
    "...",
    "a-name-as-long-as-can-be" * 10,
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, which is the current one."""
    directory = tmp_path / "here"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


def winner_in_file(file: Path) -> str:
    """Who won instance 1, according to the database in exactly this file."""
    plain = file.parent / "plain.db"
    file.rename(plain)
    with closing(sqlite3.connect(plain)) as connection:
        ((winner,),) = connection.execute("SELECT response_id FROM interaction_resolutions")
    plain.unlink()
    return str(winner)


def absolute_text(directory: Path, name: str) -> str:
    """The whole path, as text."""
    return os.path.join(directory, name)  # Path would tidy some names up


def absolute_path(directory: Path, name: str) -> Path:
    """The whole path, as a ``Path``."""
    return directory / name


def relative_path(_: Path, name: str) -> Path:
    """The name alone, as a ``Path``."""
    return Path(name)


def relative_text(_: Path, name: str) -> str:
    """The name alone, as text: but for the one name that is special."""
    return os.path.join(".", name) if name == ":memory:" else name


@pytest.mark.parametrize("spell", [absolute_text, absolute_path, relative_path, relative_text])
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_ledger_is_in_exactly_the_file_of_that_name(
    here: Path, open_ledger: OpenLedger, name: str, spell: Any
) -> None:
    target = spell(here, name)
    with open_ledger(target) as ledger:
        with pytest.raises(StoreUnavailable):
            ledger.winner(instance(1))
        assert ledger.resolve(record(1, 1, 1)) == Won()
        assert {file.name for file in here.iterdir()} == {name, f"{name}-wal", f"{name}-shm"}
    with open_ledger(target) as ledger:
        assert ledger.winner(instance(1)) == response(1)
    assert [file.name for file in here.iterdir()] == [name]
    assert winner_in_file(here / name) == response(1).text


@pytest.mark.parametrize("target", ["ledger.db", Path("ledger.db"), "./x/../ledger.db"])
def test_a_relative_path_stays_where_it_was_when_the_process_moves_on(
    here: Path, tmp_path: Path, open_ledger: OpenLedger, target: str | Path
) -> None:
    (here / "x").mkdir()
    with open_ledger(target) as ledger:
        os.chdir(tmp_path)
        ledger.resolve(record(1, 1, 1))
    assert winner_in_file(here / "ledger.db") == response(1).text


def test_a_link_and_the_file_that_it_names_are_one_ledger(
    tmp_path: Path, open_ledger: OpenLedger
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "there" / "ledger.db")
    by_link = open_ledger(tmp_path / "link.db")
    by_name = open_ledger(tmp_path / "there" / "ledger.db")
    assert by_link.resolve(record(1, 1, 1)) == Won()
    assert by_name.winner(instance(1)) == response(1)
    by_name.resolve(record(1, 2, 2))
    assert len(by_link.history(instance(1))) == 2


def test_a_path_like_object_names_the_ledger(path: Path, open_ledger: OpenLedger) -> None:
    class Somewhere(os.PathLike[str]):
        def __fspath__(self) -> str:
            return str(path)

    open_ledger(Somewhere()).resolve(record(1, 1, 1))
    assert path.exists()


def test_memory_is_a_ledger_of_its_own_each_time(here: Path, open_ledger: OpenLedger) -> None:
    for _ in range(2):
        assert open_ledger(":memory:").resolve(record(1, 1, 1)) == Won()
    assert list(here.iterdir()) == []


class _Bytes(os.PathLike[bytes]):
    def __fspath__(self) -> bytes:
        return b"ledger.db"


@pytest.mark.parametrize(
    "target",
    [
        "http://example.org/ledger",
        "sqlite:///ledger.db",
        "file:///tmp/ledger.db",
        "FILE://ledger.db",
        "x+y-z.1://",
        "",
        "a\0b",
        "\0",
        "a\ud800",
        b"ledger.db",
        _Bytes(),
        None,
        5,
        ["ledger.db"],
    ],
    ids=repr,
)
def test_what_is_neither_a_path_nor_a_known_url_is_refused_at_once(here: Path, target: Any) -> None:
    with pytest.raises(InvalidOption) as error:
        ResolutionLedger.open(target, workspace=WORKSPACE)
    assert error.value.option == "target"
    assert error.value.value is target
    assert list(here.iterdir()) == []


@pytest.fixture
def nowhere(tmp_path: Path) -> Iterator[None]:
    """The current directory has been removed."""
    gone, before = tmp_path / "gone", Path.cwd()
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    yield
    os.chdir(before)


@pytest.mark.usefixtures("nowhere")
def test_a_relative_path_with_nothing_to_be_relative_to_is_named() -> None:
    with pytest.raises(ResolutionError):
        ResolutionLedger.open("ledger.db", workspace=WORKSPACE)
