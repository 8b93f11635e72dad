"""What is at the path of a ledger may be anything. It is refused and left as it is."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from integration.sweeping import make_ledger
from property.damage import told
from property.test_bad_schemas import CALLS
from resolution_ledger import ResolutionError, StoreUnavailable

SPARSE = 5 * 2**30
"""Bytes."""


def _socket(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(path))


def _sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, SPARSE)


MAKERS: dict[str, Callable[[Path], object]] = {
    "a directory": Path.mkdir,
    "a named pipe": os.mkfifo,
    "a socket": _socket,
    "a device": lambda path: path.symlink_to("/dev/null"),
    "a link to itself": lambda path: path.symlink_to(path),
    "gigabytes of nothing": _sparse,
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_is_no_ordinary_file_is_refused_and_left_alone(
    make: Callable[[Path], object], call: str, path: Path
) -> None:
    make(path)
    before = path.lstat()
    answer = told(CALLS[call], path)
    assert isinstance(answer, type)
    assert issubclass(answer, ResolutionError)
    after = path.lstat()
    assert (after.st_ino, after.st_mode, after.st_size, after.st_mtime_ns) == (
        before.st_ino,
        before.st_mode,
        before.st_size,
        before.st_mtime_ns,
    )
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("beside", ["-wal", "-shm", "-journal", "-gate"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["a directory", "a named pipe"])
@pytest.mark.parametrize("call", CALLS)
def test_what_stands_where_a_ledgers_other_files_go_holds_up_nobody(
    call: str, make: Callable[[Path], object], beside: str, path: Path
) -> None:
    make_ledger(path)
    other = Path(f"{path}{beside}")
    make(other)
    before = path.read_bytes()
    answer = told(CALLS[call], path)
    if isinstance(answer, type) and call != "adopt":
        assert issubclass(answer, StoreUnavailable)
        assert path.read_bytes() == before
