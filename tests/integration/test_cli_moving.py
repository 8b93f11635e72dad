"""Moving a ledger on the command line: export and import."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from time import sleep

import pytest

from inside import files_in
from integration.arranged import HALF_WAY
from integration.shells import Shell, end, unread
from integration.tampering import make_ledger
from resolution_ledger import LedgerAdmin
from samples import WORKSPACE

LENGTH = 20
DONE = f"{LENGTH} events exported.\n"


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    """In a folder of its own, beside a ledger."""
    make_ledger(path, LENGTH)
    folder = tmp_path / "folder"
    folder.mkdir()
    return Shell(folder, path)


@pytest.fixture
def exported(shell: Shell, path: Path) -> bytes:
    """What ``export`` should write."""
    assert shell.folder
    return export_of(path)


@pytest.fixture
def other(shell: Shell) -> Shell:
    """Where there is no ledger yet."""
    return Shell(shell.folder, shell.folder / "other.db")


def export_of(target: Path | str) -> bytes:
    file = BytesIO()
    with LedgerAdmin.open(target) as admin:
        admin.export(file)
        assert admin.verify().clean
    return file.getvalue()


# Export


def test_export_writes_to_standard_output_or_to_a_file(shell: Shell, exported: bytes) -> None:
    (shell.folder / "old").write_bytes(b"old " * 100_000)
    for arguments in ((), ("-",), ("new",), ("old",)):
        done = shell.run("export", *arguments)
        assert (done.returncode, done.stderr) == (0, DONE)
        to_file = arguments not in {(), ("-",)}
        assert done.stdout.encode() == (b"" if to_file else exported)
    assert files_in(shell.folder) == {"new": exported, "old": exported}


@pytest.mark.parametrize("there", [None, b"old"], ids=["a new file", "a file that is there"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_export_that_is_ended_half_way_leaves_the_file_as_it_was(
    shell: Shell, there: bytes | None, number: int
) -> None:
    file = shell.folder / "file"
    if there is not None:
        file.write_bytes(there)
    with shell.start("export", "file", arranged=True) as exporter:
        assert exporter.stderr is not None
        assert exporter.stderr.readline() == HALF_WAY
        assert (file.read_bytes() if file.exists() else None) == there
        done = end(exporter, number)
    assert (file.read_bytes() if file.exists() else None) == there
    if number == signal.SIGINT:
        assert (done.returncode, done.stderr.strip()) == (130, "Interrupted.")
        assert list(files_in(shell.folder)) == ([] if there is None else ["file"])


@pytest.mark.parametrize("place", ["missing/file", "plain/file", "x" * 300])
def test_an_export_to_where_no_file_can_be_exits_1_and_says_so(shell: Shell, place: str) -> None:
    (shell.folder / "plain").touch()
    done = shell.run("export", place)
    assert (done.returncode, done.stdout) == (1, "")
    assert place in done.stderr
    assert files_in(shell.folder) == {"plain": b""}


def test_an_export_to_the_ledger_itself_does_not_destroy_it(
    shell: Shell, path: Path, exported: bytes
) -> None:
    assert shell.run("export", str(path)).returncode != 0
    assert export_of(path) == exported


def test_an_export_to_a_named_pipe_goes_through_it(shell: Shell, exported: bytes) -> None:
    pipe = shell.folder / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = shell.run("export", "pipe")
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert done.returncode == 0
        assert os.read(reading, len(exported) + 1) == exported
    finally:
        os.close(reading)


# Import


@pytest.mark.parametrize("arguments", [(), ("-",), ("file",)], ids=" ".join)
def test_import_makes_the_same_ledger(
    shell: Shell, other: Shell, exported: bytes, arguments: tuple[str, ...]
) -> None:
    (shell.folder / "file").write_bytes(exported)
    done = other.run("import", *arguments, stdin=b"" if "file" in arguments else exported)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{LENGTH} events imported.\n")
    assert export_of(other.folder / "other.db") == exported


def test_an_export_can_be_piped_into_an_import(shell: Shell) -> None:
    done = shell.script(
        "ledger export | RESOLUTION_LEDGER=other.db ledger import &&"
        " ledger checkpoint | RESOLUTION_LEDGER=other.db ledger verify --checkpoint -"
    )
    assert done.returncode == 0
    assert f"{LENGTH} events imported." in done.stderr


def test_a_ledger_without_events_moves_like_any_other(other: Shell) -> None:
    nothing = export_of(":memory:")
    assert other.run("import", stdin=nothing).stderr == "0 events imported.\n"
    assert other.run("export").stdout.encode() == nothing
    assert other.run("verify").stderr == "0 events, 0 findings.\n"
    assert other.run("rebuild").stderr == "0 events, 0 parts and rows mended.\n"
    assert other.run("state-at", "0").returncode == 0


def test_a_ledger_with_events_takes_in_no_others(shell: Shell, path: Path, exported: bytes) -> None:
    done = shell.run("import", stdin=exported)
    assert (done.returncode, done.stdout) == (1, "")
    assert "LedgerNotEmpty" in done.stderr
    assert export_of(path) == exported


BREAKS: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "cut off": lambda export: export[:-20],
    "an event less": lambda export: b"".join(export.splitlines(keepends=True)[:-1]),
    "another outcome": lambda export: export.replace(b'"lost"', b'"replayed"', 1),
    "another system's lines": lambda export: export.replace(b"\n", b"\r\n"),
    "a database": lambda _: b"SQLite format 3\0" + bytes(100_000),
}


@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_a_broken_export_is_refused_and_nothing_is_written(
    other: Shell, exported: bytes, change: Callable[[bytes], bytes]
) -> None:
    (other.folder / "file").write_bytes(change(exported))
    done = other.run("import", "file")
    assert (done.returncode, done.stdout) == (2, "")
    assert "line" in done.stderr
    assert not (other.folder / "other.db").exists()


@pytest.mark.parametrize("lines", [0, 1, LENGTH + 1])
def test_an_import_that_is_interrupted_while_it_waits_leaves_no_ledger(
    other: Shell, exported: bytes, lines: int
) -> None:
    with other.start("import") as importer:
        assert importer.stdin is not None
        importer.stdin.write(b"".join(exported.splitlines(keepends=True)[:lines]) or b"{")
        importer.stdin.flush()
        while unread(importer.stdin.fileno()):
            sleep(0.001)
        importer.send_signal(signal.SIGINT)
        importer.wait()
        done = end(importer)
    assert (done.returncode, done.stderr.strip()) == (130, "Interrupted.")
    assert not (other.folder / "other.db").exists()
    assert other.resolve(5, 5, RESOLUTION_WORKSPACE=WORKSPACE) == (0, {"outcome": "won"})


@pytest.mark.parametrize("file", ["missing", "."])
def test_an_import_of_what_cannot_be_read_is_a_usage_error_and_makes_no_ledger(
    other: Shell, file: str
) -> None:
    done = other.run("import", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert files_in(other.folder) == {}
