"""On the command line, damaged files come to an exit status and a line, never to a traceback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from property.damage import damages
from property.test_bad_files import ORIGINAL, more, written
from resolution_ledger.__main__ import main
from samples import WORKSPACE, instance, key, response

STATUSES = {0, 1, 2, 10, 11, 12, 13, 14, 15, 20}
"""Those that docs/command-line.md names."""

ASK = ("--", instance(1).text)

COMMANDS = {
    "winner": ("winner", *ASK),
    "history": ("history", *ASK),
    "losers": ("losers",),
    "resolve": ("resolve", "--key", str(key(7)), "--", instance(1).text, response(7).text),
    "withdraw": ("withdraw", *ASK, "expired"),
    "wait": ("wait", "--timeout", "0", *ASK),
    "attempts": ("attempts",),
    "replay": ("replay",),
    "replay one": ("replay", *ASK),
    "contested": ("contested",),
    "state-at": ("state-at", "40"),
    "verify": ("verify",),
    "verify with a checkpoint": ("verify", "--checkpoint", "checkpoint.txt"),
    "checkpoint": ("checkpoint",),
    "export": ("export",),
    "import": ("import", "export.jsonl"),
    "rebuild": ("rebuild",),
    "adopt": ("adopt",),
    "doctor": ("doctor",),
}


def run(folder: str, *arguments: str) -> tuple[int, str, str]:
    """The exit status, and what is on standard output and standard error."""
    files = [str(Path(folder, one)) if "." in one else one for one in arguments]
    with (
        TemporaryFile(
            "w+", encoding="utf-8"
        ) as out,  # a real one: an export goes to its descriptor
        TemporaryFile("w+", encoding="utf-8") as err,
        patch.object(sys, "argv", ["resolution-ledger", *files]),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
    ):
        status = main()
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read())
    return status, said[0], said[1]


@more
@given(
    command=st.sampled_from([*COMMANDS]),
    as_json=st.booleans(),
    damage=damages(len(ORIGINAL.database)),
)
def test_a_command_on_a_damaged_database_ends_with_a_status_that_is_documented(
    *, command: str, as_json: bool, damage: Callable[[bytes], bytes]
) -> None:
    with TemporaryDirectory() as folder:
        path = written(folder, damage(ORIGINAL.database))
        Path(folder, "checkpoint.txt").write_text(ORIGINAL.checkpoint)
        Path(folder, "export.jsonl").write_bytes(ORIGINAL.export)
        options = ["--ledger", str(path), "--workspace", WORKSPACE, *["--json"] * as_json]
        status, out, err = run(folder, *options, *COMMANDS[command])
    assert status in STATUSES
    assert status in (0, 15) or out or err
    assert all(line.isprintable() for line in err.splitlines())
    if as_json and command != "export":
        for line in out.splitlines():
            json.loads(line)


@more
@given(st.sampled_from(["import", "verify"]), st.data())
def test_a_command_that_is_given_a_damaged_file_ends_with_a_status_that_is_documented(
    command: str, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        path = written(folder, ORIGINAL.database)
        options = ("--ledger", str(path))
        if command == "import":
            damage = data.draw(damages(len(ORIGINAL.export)))
            Path(folder, "export.jsonl").write_bytes(damage(ORIGINAL.export))
            options = ("--ledger", f"{path}-new")
        else:
            damage = data.draw(damages(len(ORIGINAL.checkpoint)))
            Path(folder, "checkpoint.txt").write_bytes(damage(ORIGINAL.checkpoint.encode()))
        name = "import" if command == "import" else "verify with a checkpoint"
        status, _, err = run(folder, *options, *COMMANDS[name])
    assert status in STATUSES
    assert err
