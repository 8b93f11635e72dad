"""The script of ``docs/verify.md``, as printed there, finds in an export what we find."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from integration.exports import CLEAN, LENGTH, Export, export_of, imported, rehashed, sample
from integration.forgeries import TAMPERED, UNNOTICED, WRONG_STATES
from integration.forging import Forge
from resolution_ledger import InvalidCheckpoint, InvalidExport, LedgerAdmin

PAGE = (Path(__file__).parents[2] / "docs" / "verify.md").read_text()


def printed(pattern: str) -> str:
    """The only part of the page that looks like this."""
    (part,) = re.findall(pattern, PAGE, re.MULTILINE | re.DOTALL)
    return str(part)


SCRIPT = printed(r'^```python\n("""Check an exported ledger.*?)^```$')
COMMAND = printed(r"^    (python3 check_export\.py [^\n]*)$")


def script_says(folder: Path, export: Export, checkpoint: str | None = None) -> str:
    """What the script prints, run as the page says, by a Python that finds no packages."""
    interpreter, script, ledger, kept = shlex.split(COMMAND)
    assert interpreter == "python3"
    (folder / script).write_text(SCRIPT)
    (folder / ledger).write_bytes(b"".join(export))
    arguments = [script, ledger]
    if checkpoint is not None:
        (folder / kept).write_bytes(checkpoint.encode())
        arguments.append(kept)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    assert done.returncode == (0 if done.stdout == "OK\n" else 1)
    return done.stdout.removesuffix("\n")


def we_say(folder: Path, export: Export, checkpoint: str | None = None) -> str:
    """What is found by an import, and by verifying the ledger that it makes."""
    path = folder / "imported.db"
    path.unlink(missing_ok=True)
    try:
        imported(export, path)
        with LedgerAdmin.open(path) as admin:
            report = admin.verify(checkpoint)
    except InvalidExport as error:
        return f"line {error.line}: {error.reason}"
    except InvalidCheckpoint as error:
        return error.reason
    return "OK" if report.clean else "; ".join(finding.kind for finding in report.findings)


def line_of(fault: str) -> int:
    (line,) = re.findall(r"^line (\d+): .", fault)
    return int(line)


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    """Of a ledger with every outcome in it, adopted wins first."""
    return sample(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("make", CLEAN.values(), ids=CLEAN)
def test_both_find_nothing_in_a_sound_export(
    tmp_path: Path, make: Callable[[Path], Export]
) -> None:
    """Nor against the checkpoint of its end, or one from before."""
    export = make(tmp_path)
    end = imported(export, tmp_path / "end.db")
    before = imported(rehashed(export[: 1 + len(export) // 2]), tmp_path / "before.db")
    for checkpoint in (None, end, before):
        assert script_says(tmp_path, export, checkpoint) == "OK"
        assert we_say(tmp_path, export, checkpoint) == "OK"
    assert export_of(tmp_path / "imported.db") == export


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_both_find_what_was_tampered_with(tmp_path: Path, export: Export, tamper: Forge) -> None:
    """In the same line, without any checkpoint."""
    forged = tamper(export)
    assert forged != export
    ours, scripts = we_say(tmp_path, forged), script_says(tmp_path, forged)
    assert line_of(ours) == line_of(scripts), (ours, scripts)


@pytest.mark.parametrize("forge", UNNOTICED.values(), ids=UNNOTICED)
def test_a_sound_forgery_is_found_by_neither_without_a_checkpoint_and_by_both_with_one(
    tmp_path: Path, export: Export, forge: Forge
) -> None:
    """It is as if it had happened."""
    checkpoint = imported(export, tmp_path / "original.db")
    forged = forge(export)
    assert script_says(tmp_path, forged) == we_say(tmp_path, forged) == "OK"
    assert "checkpoint" in script_says(tmp_path, forged, checkpoint)
    assert set(we_say(tmp_path, forged, checkpoint).split("; ")) == {"checkpoint"}


def test_a_checkpoint_says_nothing_of_what_came_after_it(tmp_path: Path, export: Export) -> None:
    """That is why to take them often."""
    checkpoint = imported(rehashed(export[:20]), tmp_path / "before.db")
    forged = rehashed(export[:40])
    assert script_says(tmp_path, forged, checkpoint) == "OK"
    assert we_say(tmp_path, forged, checkpoint) == "OK"


CHECKPOINTS: dict[str, Callable[[str], str]] = {
    "empty": lambda _: "",
    "without its last line end": lambda text: text[:-1],
    "of two lines": lambda text: "\n".join(text.split("\n")[:2]) + "\n",
    "of another ledger": lambda text: text.replace("resolution-ledger/", "resolution-ledger/0"),
    "of another length": lambda text: text.replace(f"\n{LENGTH}\n", f"\n{LENGTH - 1}\n"),
    "of a length with a zero before it": lambda text: text.replace("\n", "\n0", 1),
    "of no event": lambda text: text.replace(f"\n{LENGTH}\n", "\n0\n"),
    "of another hash": lambda text: text.replace("=\n", "A\n"),
    "behind an empty line": lambda text: "\n" + text,
}


@pytest.mark.parametrize("alter", CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_both_refuse_a_checkpoint_that_is_not_of_this_log(
    tmp_path: Path, export: Export, alter: Callable[[str], str]
) -> None:
    checkpoint = imported(export, tmp_path / "original.db")
    altered = alter(checkpoint)
    assert altered != checkpoint
    assert script_says(tmp_path, export, altered) != "OK" != we_say(tmp_path, export, altered)


def test_both_take_a_checkpoint_with_something_behind_it(tmp_path: Path, export: Export) -> None:
    """A signature of whoever keeps it, for one."""
    signed = imported(export, tmp_path / "original.db") + "\n\u2014 auditor.example c2lnbmF0dXJl\n"
    assert script_says(tmp_path, export, signed) == we_say(tmp_path, export, signed) == "OK"


@pytest.mark.parametrize("forge", WRONG_STATES.values(), ids=WRONG_STATES)
def test_what_an_event_says_is_left_to_us(tmp_path: Path, export: Export, forge: Forge) -> None:
    """As the page says: to the script, a state is bytes."""
    forged = forge(export)
    assert script_says(tmp_path, forged) == "OK"
    assert line_of(we_say(tmp_path, forged)) > 1


def test_the_example_of_the_page_is_what_it_says(tmp_path: Path) -> None:
    """The bytes that are hashed, the export and the checkpoint are of one event."""
    parts = re.findall(r"^\| ([^|]+) \| (\d{1,2}) \| `([0-9a-f]+)` \|$", PAGE, re.MULTILINE)
    assert [len(bytes.fromhex(part)) for _, _, part in parts] == [int(n) for _, n, _ in parts]
    hashed = bytes.fromhex("".join(part for *_, part in parts))
    digest = sha256(hashed).digest()
    assert f"these {len(hashed)} bytes is\n`{digest.hex()}`" in PAGE

    lines = [line.encode() + b"\n" for line in printed(r"^```json\n(.*?)^```$").splitlines()]
    checkpoint = printed(r"^```text\n(.*?)^```$")
    assert rehashed(lines) == lines
    assert b64encode(digest) in lines[1]
    assert script_says(tmp_path, lines, checkpoint) == "OK"
    assert imported(lines, tmp_path / "example.db") == checkpoint
    with LedgerAdmin.open(tmp_path / "example.db") as admin:
        (attempt,) = admin.attempts()
    elements = re.findall(r"^\| [^|]+ \| `?([^`|]*)`? \| `([0-9a-f]+)`", PAGE, re.MULTILINE)
    said = {element for element, _ in elements}
    assert said >= {
        str(attempt.response),
        attempt.workspace,
        str(attempt.idempotency_key),
        attempt.submitted_by,
        str(attempt.tick),
    }
