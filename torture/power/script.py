"""What the recorded process does: what hosts do with a ledger, in more or less the order of life.

Each answer is written down, as soon as it is there, into the file of marks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct

from resolution_ledger import (
    IdempotencyConflict,
    InstanceId,
    LedgerAdmin,
    OutsideWorkspace,
    ResolutionLedger,
    ResponseId,
)
from resolution_ledger.infra.sqlite import opening, wal
from torture import history
from torture.asking import step, told

from .recording import MARKS

LEDGER, EXPORT = "ledger.db", "export.jsonl"
ESTABLISHED = b"established"
"""The mark that says that an import or adoption is done."""

WORKSPACES = "ws-1", "ws-2"
_PAGE = 4096 + 24
_ALONE = 24
"""Calls of one thread between opening and closing; then some of two threads follow."""
_TOGETHER = 8
_SELDOM = 4
"""Transactions between two looks at how long the WAL is."""


class Script(Struct, frozen=True):
    """What is to be done."""

    directory: str
    durability: str
    commits: int
    """Calls that put something on record."""
    seed: int
    wal_pages: int = 16
    """How long the WAL gets before it is copied."""
    begins: Literal["create", "import", "adopt"] = "create"
    """What the ledger comes from: nothing, the export in the same directory, what is there."""
    synchronous: Literal["OFF", "NORMAL"] | None = None
    """A setting to plant, in place of the one that the durability stands for."""


class Acknowledged(Struct, frozen=True):
    """What was asked, and told: all that this needs is durable by now."""

    instance: str
    asked: history.Submission
    told: history.Told


def submit(ledger: ResolutionLedger, instance: str, asked: history.Submission) -> history.Told:
    """What the ledger tells."""
    try:
        return told(step(ledger, InstanceId(instance), asked)())
    except (IdempotencyConflict, OutsideWorkspace) as refused:
        return told(refused)


def drawn(random: Random, count: int) -> list[tuple[str, history.Submission]]:
    """Submissions, no two of which are the same: first answers mostly, and all that may follow."""
    made: dict[tuple[str, history.Submission], None] = {}
    newest = 0
    while len(made) < count:
        newest += random.random() < 0.7  # noqa: PLR2004 - most calls are the first of an instance
        number = max(0, newest - random.randrange(3))
        workspace = WORKSPACES[random.randrange(12) == 0]
        asked: history.Submission = history.Withdrawal(
            workspace, random.choice(["expired", "withdrawn"])
        )
        if random.randrange(8):
            response = ResponseId.mint({"answer": random.randrange(4)})
            asked = history.Attempt(workspace, str(response), f"key-{random.randrange(4)}")
        made[str(InstanceId.mint({"question": number})), asked] = None
    return list(made)


class _Worker:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._path = Path(script.directory, LEDGER)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._marks = os.open(Path(script.directory, MARKS), flags, 0o600)

    def work(self) -> None:
        random = Random(self._script.seed)
        self._begin()
        todo = drawn(random, self._script.commits)
        while todo:
            alone, together = todo[:_ALONE], todo[_ALONE : _ALONE + _TOGETHER]
            todo = todo[_ALONE + _TOGETHER :]
            with self._open(WORKSPACES[0]) as first, self._open(WORKSPACES[1]) as second:
                ledgers = {WORKSPACES[0]: first, WORKSPACES[1]: second}
                self._submit(ledgers, alone)
                with ThreadPoolExecutor(2) as threads:
                    halves = together[::2], together[1::2]
                    list(threads.map(partial(self._submit, ledgers), halves))

    def _begin(self) -> None:
        if self._script.begins == "create":
            return
        with LedgerAdmin.open(self._path) as admin:
            if self._script.begins == "adopt":
                admin.adopt()
            else:
                with open(self._path.with_name(EXPORT), "rb") as file:
                    admin.import_(file)
        os.write(self._marks, ESTABLISHED)

    def _open(self, workspace: str) -> ResolutionLedger:
        return ResolutionLedger.open(
            self._path, workspace=workspace, durability=self._script.durability
        )

    def _submit(
        self,
        ledgers: dict[str, ResolutionLedger],
        submissions: Iterable[tuple[str, history.Submission]],
    ) -> None:
        for instance, asked in submissions:
            told = submit(ledgers[asked.workspace], instance, asked)
            os.write(self._marks, msgspec.json.encode(Acknowledged(instance, asked, told)))


def main() -> None:
    """Do what the argument says."""
    script = msgspec.json.decode(sys.argv[1], type=Script)
    limit = script.wal_pages * _PAGE
    wal._BYTES = limit  # noqa: SLF001 - so that it is copied every now and then
    wal._SELDOM = _SELDOM  # noqa: SLF001 - as above
    wal.SETTINGS = f"PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = {limit}"
    if script.synchronous is not None:
        planted = (f"PRAGMA synchronous = {script.synchronous}",)
        opening._SETTINGS["full"] = opening._SETTINGS["normal"] = planted  # noqa: SLF001
    _Worker(script).work()


if __name__ == "__main__":
    main()
