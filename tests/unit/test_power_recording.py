"""What the recorder has written, as steps of a disk."""

from __future__ import annotations

import pytest

from torture.power.disk import Mark, Name, Resize, Step, Sync, SyncNames, Write
from torture.power.recording import _HEAD, Beyond, _Reader


def records(*made: tuple[int, int, int, bytes]) -> bytes:
    return b"".join(_HEAD.pack(k, d, n, len(data)) + data for k, d, n, data in made)


def read(*made: tuple[int, int, int, bytes]) -> list[Step]:
    return list(_Reader("/ledgers", {"a": b""}).read(records(*made)))


OPENED, WRITTEN, CUT, SYNCED, CLOSED, UNLINKED, LINKED, RENAMED, BEYOND = range(1, 10)


def test_descriptors_and_names_become_files() -> None:
    steps = read(
        (OPENED, 3, 0, b"/ledgers/a"),
        (OPENED, 4, 1, b"/ledgers/a-wal"),
        (WRITTEN, 4, 32, b"frame"),
        (SYNCED, 4, 0, b""),
        (CUT, 3, 4096, b""),
        (CLOSED, 4, 0, b""),
        (UNLINKED, -1, 0, b"/ledgers/a-wal"),
        (OPENED, 4, 1, b"/ledgers/a-wal"),
        (WRITTEN, 4, 0, b"header"),
        (OPENED, 5, 0, b"/ledgers"),
        (SYNCED, 5, 0, b""),
    )
    assert steps == [
        Name("a-wal", 1),
        Write(1, 32, b"frame"),
        Sync(1),
        Resize(0, 4096),
        Name("a-wal", None),
        Name("a-wal", 2),
        Write(2, 0, b"header"),
        SyncNames(),
    ]


def test_links_and_new_names_lead_to_the_same_file() -> None:
    steps = read(
        (LINKED, -1, 0, b"/ledgers/a\0/ledgers/b"),
        (RENAMED, -1, 0, b"/ledgers/b\0/ledgers/c"),
        (OPENED, 3, 0, b"/ledgers/c"),
        (SYNCED, 3, 0, b""),
    )
    assert steps == [Name("b", 0), Name("c", 0), Name("b", None), Sync(0)]


def test_marks_and_shared_memory_are_not_on_the_disk() -> None:
    steps = read(
        (OPENED, 3, 1, b"/ledgers/marks"),
        (WRITTEN, 3, 0, b"told"),
        (OPENED, 4, 1, b"/ledgers/a-shm"),
        (WRITTEN, 4, 0, b"index"),
        (BEYOND, 4, 0, b"mmap"),
        (UNLINKED, -1, 0, b"/ledgers/a-shm"),
    )
    assert steps == [Mark(b"told")]


def test_what_no_recording_shows_is_an_error() -> None:
    with pytest.raises(Beyond, match="mmap of a"):
        read((OPENED, 3, 0, b"/ledgers/a"), (BEYOND, 3, 0, b"mmap"))
