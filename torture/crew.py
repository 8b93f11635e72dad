"""The processes of a round: who starts them, kills them, wakes them, and waits for them."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
from collections.abc import Callable, Container
from contextlib import suppress
from multiprocessing.process import BaseProcess
from random import Random
from time import monotonic, sleep

from resolution_ledger import InstanceId, ResolutionLedger, ResponseId

from . import client
from .nemeses import disks, outside, replacing
from .nemeses.names import ALONE, OUTSIDE
from .place import Pace, Place
from .plan import ClientPlan, RoundPlan

PATIENCE = 60.0
"""Seconds after the last turn after which a client counts as hanging."""

_DELIBERATE = {0, -signal.SIGKILL, -signal.SIGALRM, -signal.SIGXFSZ}

forkserver = multiprocessing.get_context("forkserver")
forkserver.set_forkserver_preload(["torture.crew"])


class Crew:
    """The processes of a round, as long as it lasts."""

    def __init__(
        self, plan: RoundPlan, place: Place, skipped: Container[str], plant: str | None
    ) -> None:
        self.faults: list[str] = []
        self.kills = 0
        self._plan = plan
        self._place = place
        self._skipped = skipped
        self._plant = plant
        self._random = Random(f"{plan.origin}/runner")
        self._instances = [
            str(InstanceId.mint({"round": plan.origin, "instance": n}))
            for n in range(plan.instances)
        ]
        self._responses = [str(ResponseId.mint({"response": n})) for n in range(3)]
        self._clients: dict[BaseProcess, ClientPlan] = {}
        self._others: list[BaseProcess] = []
        self._successors = 0
        self._stopped: dict[int, float] = {}
        self._read: dict[str, int] = {}
        self._unprivileged = bool({"read-only file", "closed directory"} & {*plan.nemeses})

    def run(self) -> None:
        """Start everybody, strike, see that all end."""
        self._place.folder("gate").touch()
        if self._unprivileged and os.geteuid() == 0:
            self._give_away()
        if self._plan.made:
            self._make_ledger()
        self._pace = Pace(monotonic() + 0.1, self._plan.step, self._plan.instances)
        try:
            for plan in self._plan.clients:
                self._start(plan)
            self._start_others()
            self._attend()
            self._wait_for_the_last()
        finally:
            self._end_all()

    def _make_ledger(self) -> None:
        """In a process of its own: this one never has the file open while others write."""
        process = forkserver.Process(target=_create, args=(self._place,))
        process.start()
        process.join(PATIENCE)

    def _give_away(self) -> None:
        """To root, no file is read-only: so the clients are nobody's, and all else theirs."""
        os.chmod(self._place.directory, 0o777)  # noqa: S103 - it is a directory of this round
        for name in ("ledger", "calls", "struck", "faults", "stopped", "stacks"):
            os.chmod(self._place.folder(name), 0o777)  # noqa: S103
        os.chown(os.path.dirname(self._place.ledger), outside.NOBODY, -1)

    def _start(self, plan: ClientPlan) -> None:
        process = forkserver.Process(
            target=_run_client,
            args=(
                self._place,
                self._pace,
                plan,
                self._instances,
                self._responses,
                self._plant,
                self._unprivileged,
            ),
            name=plan.name,
        )
        process.start()
        self._clients[process] = plan

    def _start_others(self) -> None:
        plan = self._plan
        for name in plan.nemeses:
            arguments = (self._place, self._pace, plan.origin)
            if name in OUTSIDE and name != "kill":
                self._start_other(outside.run, (name, *arguments), {})
            elif name.startswith("replaced"):
                self._start_other(replacing.replace, (name, *arguments), {"paused": plan.paused})
            elif name in ALONE and name not in self._skipped:
                self._start_other(disks.fill, arguments, {})

    def _start_other(
        self, target: Callable[..., object], args: tuple[object, ...], named: dict[str, bool]
    ) -> None:
        process = forkserver.Process(target=target, args=args, kwargs=named, name=str(args[0]))
        process.start()
        self._others.append(process)

    def _attend(self) -> None:
        """Until all clients have ended: kill, replace the killed, wake the stopped."""
        kills = "kill" in self._plan.nemeses
        next_kill = monotonic() + 0.15
        pace = self._pace
        last = self._pace.end + PATIENCE
        while self._clients:
            now = monotonic()
            if kills and next_kill < now < self._pace.end:
                # When they are all about an instance: most of the time they wait for the next.
                turn = pace.current() + self._random.randint(2, 8)
                next_kill = now + pace.left_until(turn) + self._random.uniform(-0.005, 0.01)
                victim = self._random.choice([*self._clients])
                if victim.is_alive():
                    victim.kill()
                    self._place.strike("kill")
            self._wake()
            self._reap()
            if now > last:
                self._tell_of_hanging("hangs")
                return
            sleep(0.001 if kills else 0.005)

    def _reap(self) -> None:
        for process in [one for one in self._clients if not one.is_alive()]:
            plan = self._clients.pop(process)
            code = process.exitcode
            if code not in _DELIBERATE:
                self.faults.append(f"{plan.name} ended with {code}")
                continue
            if code != 0:
                self.kills += 1
            elif "exit with calls in flight" not in plan.nemeses:
                continue
            if self._pace.current() < self._plan.instances:
                self._successors += 1
                self._start(plan.successor(self._successors))

    def _wake(self) -> None:
        """Whoever has stopped itself said for how long; it may be stopped, and wait to be."""
        for file in self._place.folder("stopped").iterdir():
            lines = file.read_text().splitlines()
            if len(lines) > self._read.get(file.name, 0):
                self._read[file.name] = len(lines)
                self._stopped[int(file.name)] = monotonic() + float(lines[-1])
        for pid, until in [*self._stopped.items()]:
            if monotonic() > until:
                # Again later, should this have been faster than the stop itself.
                self._stopped[pid] = monotonic() + 1.0
                try:
                    os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    del self._stopped[pid]

    def _wait_for_the_last(self) -> None:
        """Forked children are nobody's to join: they, too, hold a lock as long as they live."""
        with open(self._place.folder("alive"), "rb") as alive:
            last = max(monotonic(), self._pace.end) + PATIENCE
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                self._wake()
                if monotonic() > last:
                    self.faults.append("a forked child hangs")
                    break
                sleep(0.005)
        for process in self._others:
            process.join(PATIENCE)
            if process.exitcode != 0:
                self.faults.append(f"{process.name} ended with {process.exitcode}")

    def _tell_of_hanging(self, how: str) -> None:
        for process, plan in self._clients.items():
            with suppress(ProcessLookupError, TypeError):
                os.kill(process.pid, signal.SIGCONT)  # type: ignore[arg-type]
                os.kill(process.pid, signal.SIGUSR1)  # type: ignore[arg-type]
            sleep(0.5)
            stack = self._place.folder("stacks") / plan.name
            text = stack.read_text() if stack.exists() else ""
            self.faults.append(f"{plan.name} {how}:\n{text}")

    def _end_all(self) -> None:
        for process in (*self._clients, *self._others):
            if process.is_alive():
                process.kill()
            process.join()


def _create(place: Place) -> None:
    os.umask(0)
    with ResolutionLedger.open(place.ledger, workspace="ws-1") as ledger:
        ledger.create()
    if os.geteuid() == 0 and os.stat(os.path.dirname(place.ledger)).st_uid == outside.NOBODY:
        for beside in ("", "-wal", "-shm", "-gate"):
            with suppress(FileNotFoundError):
                os.chown(place.ledger + beside, outside.NOBODY, -1)


def _run_client(
    place: Place,
    pace: Pace,
    plan: ClientPlan,
    instances: list[str],
    responses: list[str],
    plant: str | None,
    unprivileged: bool,  # noqa: FBT001
) -> None:
    os.umask(0)
    if unprivileged and os.geteuid() == 0:
        os.setgroups([])
        os.setresuid(outside.NOBODY, outside.NOBODY, outside.NOBODY)
    client.run(place, pace, plan, instances, responses, plant)
