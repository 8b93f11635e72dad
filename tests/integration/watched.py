"""A process in which whatever opens a ledger's files is seen: all that we offer, once."""

from __future__ import annotations

import asyncio
import io
import mmap
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import Event, Thread
from typing import Any

from click.testing import CliRunner

from integration.forking import Forked
from integration.old_ledgers import LEDGERS, restore
from integration.one_row_program import make_table, row
from processes import PATIENCE
from resolution_ledger import (
    AsyncResolutionLedger,
    IdempotencyConflict,
    LedgerAdmin,
    OutsideWorkspace,
    ResolutionLedger,
)
from resolution_ledger.cli import cli
from resolution_ledger.infra.sqlite.databases import open_database
from resolution_ledger.infra.sqlite.recorder import LedgerDatastore, LedgerRecorder
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, record, response

_SUFFIXES = ("", "-wal", "-shm", "-journal")

_OPENING = {"open", "mmap.__new__", "os.truncate"}
"""The events in which a file is opened, or a descriptor of one is passed on."""


class Watch:
    """Sees each file of a ledger that is opened in this process, but not what SQLite opens."""

    def __init__(self, ledgers: list[str]) -> None:
        self._paths = {os.path.realpath(name) + end for name in ledgers for end in _SUFFIXES}
        self.seen: list[str] = []
        self.looks = 0
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _OPENING or not arguments:
            return
        self.looks += 1
        place = self._place(arguments[0])
        if place is not None and place in self._paths:
            self.seen.append(f"{event} {place}")

    def _place(self, file: object) -> str | None:
        """Whatever way it is named: by a path, of whatever spelling, or by a descriptor."""
        if isinstance(file, int):
            status = None if file < 0 else os.fstat(file)
            return next((path for path in self._paths if status and _is(path, status)), None)
        try:
            return os.path.realpath(os.fsdecode(file))  # type: ignore[arg-type]
        except TypeError:
            return None


def _is(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), status)
    except OSError:
        return False


def _map(path: str) -> None:
    with open(path, "rb") as file, closing(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)):
        pass


PLANTS: dict[str, Callable[[str], object]] = {
    "open": lambda path: open(path, "rb").close(),
    "open, by another name": lambda path: open(os.path.relpath(path), "rb").close(),
    "io.open": lambda path: io.open(path, "rb").close(),  # noqa: UP020 - as somebody may write it
    "os.open": lambda path: os.close(os.open(path, os.O_RDONLY)),
    "read_bytes": lambda path: Path(path).read_bytes(),
    "the -wal": lambda path: Path(f"{path}-wal").read_bytes(),
    "the -shm": lambda path: Path(f"{path}-shm").read_bytes(),
    "a copy": lambda path: shutil.copyfile(path, f"{path}.copy"),
    "truncation": lambda path: os.truncate(f"{path}-shm", os.stat(f"{path}-shm").st_size),
    "a map": _map,
}
"""What a careless line of ours might do, each of which is to be seen."""


def see_what_is_planted(_: Barrier, path: str, plant: str) -> list[str]:
    """What is seen of a plant, while a ledger is open."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 1, 1))
        ledger.winner(instance(1))
        watch = Watch([path])
        PLANTS[plant](path)
        return watch.seen


def use_everything(_: Barrier, folder: str) -> dict[str, Any]:
    """What is seen while all methods and commands are used, and which these were."""
    use = _Everything(folder)
    watch = Watch([use.path, use.moved, use.adopted, use.old, use.piped])
    for name in ("caller", "async_caller", "operator", "follower", "crowd", "fork", "commands"):
        getattr(use, name)()
    return {"seen": watch.seen, "looks": watch.looks, "used": use.used}


class _Everything:
    """Uses of a ledger; ``used`` names the methods and commands."""

    def __init__(self, folder: str) -> None:
        self.path, self.moved, self.adopted, self.old, self.piped = (
            os.path.join(folder, f"{name}.db")
            for name in ("main", "moved", "adopted", "old", "cli")
        )
        make_table(self.adopted, [row(1, 1, 1, 0)])  # type: ignore[arg-type]
        restore(LEDGERS[0], Path(self.old))
        self.used: dict[str, list[str]] = {}

    def _note(self, door: str, *names: str) -> None:
        self.used.setdefault(door, []).extend(names)

    def caller(self) -> None:
        for target in (self.old, self.path):  # the one is brought up to date, the other made
            ledger = ResolutionLedger.open(target, workspace=WORKSPACE)
            ledger.create()
            for attempt in (record(1, 1, 1), record(1, 1, 1), record(1, 2, 2), record(8, 1, 1)):
                ledger.resolve(attempt)
            _refused(lambda: ledger.resolve(record(1, 3, 2)), IdempotencyConflict)  # noqa: B023
            ledger.withdraw(instance(7), "expired")
            ledger.wait(instance(1), 1)
            ledger.wait(instance(9), 0.05)
            [*islice(ledger.watch(), 3)]
            ledger.history(instance(1))
            ledger.losers()
            ledger.winner(instance(1))
            with ResolutionLedger.open(target, workspace=OTHER_WORKSPACE) as other:
                _refused(lambda: other.resolve(record(1, 1, 1)), OutsideWorkspace)
            assert ledger.workspace
            ledger.close()
        self._note(
            "ResolutionLedger", "open", "create", "resolve", "withdraw", "wait", "watch",
            "history", "losers", "winner", "workspace", "close",
        )  # fmt: skip

    def async_caller(self) -> None:
        async def calls() -> None:
            ledger = AsyncResolutionLedger.open(self.path, workspace=WORKSPACE)
            await ledger.create()
            await ledger.resolve(record(20, 1, 1))
            await ledger.withdraw(instance(21), "withdrawn")
            await ledger.wait(instance(20), 1)
            async for _ in ledger.watch():
                break
            await ledger.history(instance(20))
            await ledger.losers()
            await ledger.winner(instance(20))
            assert ledger.workspace
            await ledger.close()

        asyncio.run(calls())
        self._note(
            "AsyncResolutionLedger", "open", "create", "resolve", "withdraw", "wait", "watch",
            "history", "losers", "winner", "workspace", "close",
        )  # fmt: skip

    def operator(self) -> None:
        admin = LedgerAdmin.open(self.path)
        [*admin.attempts()]
        [*islice(admin.watch(), 2)]
        admin.history(instance(1))
        admin.resolution(instance(1))
        [*admin.state_at(2)]
        admin.contested()
        admin.verify(admin.checkpoint())
        admin.rebuild()
        admin.examine()
        exported = io.BytesIO()
        admin.export(exported)
        exported.seek(0)
        with LedgerAdmin.open(self.moved) as moved:
            moved.import_(exported)
        with LedgerAdmin.open(self.adopted) as adopted:
            adopted.adopt()
        admin.close()
        self._note(
            "LedgerAdmin", "open", "attempts", "watch", "history", "resolution", "state_at",
            "contested", "checkpoint", "verify", "rebuild", "examine", "export", "import_",
            "adopt", "close",
        )  # fmt: skip

    def follower(self) -> None:
        """Who follows the log through the event store's own interface."""
        database = open_database(self.path, durability="full", lock_timeout=60.0)
        with closing(LedgerDatastore(database)) as datastore:
            recorder = LedgerRecorder(datastore)
            assert recorder.max_notification_id()
            assert recorder.select_notifications(1, 5)

    def crowd(self) -> None:
        """Somebody has the lock, and somebody else lines up at the gate for it."""
        inside, go_on = Event(), Event()

        def clock() -> int:
            inside.set()
            go_on.wait(PATIENCE)
            return 0

        def hold() -> None:
            with ResolutionLedger.open(
                self.path, workspace=WORKSPACE, durability="normal", clock=clock
            ) as ledger:
                ledger.resolve(record(30, 1, 1))

        def line_up() -> None:
            with ResolutionLedger.open(self.path, workspace=WORKSPACE) as ledger:
                ledger.resolve(record(31, 1, 1))

        holder, waiting = Thread(target=hold), Thread(target=line_up)
        holder.start()
        assert inside.wait(PATIENCE)
        waiting.start()
        while not os.path.exists(f"{self.path}-gate"):
            assert waiting.is_alive()
            waiting.join(0.01)
        go_on.set()
        holder.join(PATIENCE)
        waiting.join(PATIENCE)

    def fork(self) -> None:
        with ResolutionLedger.open(self.path, workspace=WORKSPACE) as ledger:
            ledger.resolve(record(40, 1, 1))
            ledger.winner(instance(40))
            child = Forked().run(lambda: ledger.resolve(record(41, 1, 1)))
            ledger.resolve(record(42, 1, 1))
            child.result()

    def commands(self) -> None:
        """Beside a ledger that is open in the process."""
        with ResolutionLedger.open(self.path, workspace=WORKSPACE) as ledger:
            ledger.winner(instance(1))
            exported = f"{self.path}.jsonl"
            self._run("mint", "{}")
            self._run("create")
            ids = (str(instance(50)), str(response(1)))
            self._run("resolve", *ids, "--key", key(1).text)
            self._run("withdraw", str(instance(51)), "expired")
            self._run("wait", str(instance(50)))
            for name in ("winner", "history"):
                self._run(name, str(instance(50)))
            for name in (
                "losers", "attempts", "replay", "contested", "verify", "doctor", "rebuild",
                "checkpoint",
            ):  # fmt: skip
                self._run(name)
            self._run("state-at", "1")
            self._run("export", exported)
            self._run("import", exported, ledger=self.piped)
            os.remove(self.adopted)
            make_table(self.adopted, [row(1, 1, 1, 0)])  # type: ignore[arg-type]
            self._run("adopt", ledger=self.adopted)
            self._run("demo", "--instances", "1", "--web", "1")

    def _run(self, *arguments: str, ledger: str | None = None) -> None:
        options = ["--ledger", ledger or self.path, "--workspace", WORKSPACE]
        done = CliRunner().invoke(cli, [*options, *arguments])
        assert done.exit_code in {0, 20}, (arguments, done.output, done.exception)
        self._note("commands", arguments[0])


def _refused(call: Callable[[], object], kind: type[Exception]) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(kind)
