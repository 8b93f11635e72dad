"""The process that makes calls, and writes down what it asked and was told."""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import importlib
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from threading import Thread
from time import sleep
from traceback import format_exc
from typing import ClassVar

from .calling import Caller
from .history import (
    Asked,
    AskHistory,
    AskWait,
    AskWinner,
    Attempt,
    Notebook,
    Told,
    Unknown,
    Withdrawal,
)
from .nemeses.armoury import arm
from .nemeses.deaths import ExitInFlight, Fork
from .nemeses.inside import Inside
from .place import Pace, Place
from .plan import ClientPlan

WORKSPACES = ("ws-1", "ws-2")


def run(
    place: Place,
    pace: Pace,
    plan: ClientPlan,
    instances: Sequence[str],
    responses: Sequence[str],
    plant: str | None,
) -> None:
    """Answer all instances that still have their turn, and end."""
    with open(place.folder("stacks") / plan.name, "w", encoding="utf-8") as stacks:
        faulthandler.register(signal.SIGUSR1, stacks, all_threads=True)
        try:
            if plant is not None:
                module, _, name = plant.partition(":")
                getattr(importlib.import_module(module), name)()
            client = Client(place, pace, plan, instances, responses)
            client.work()
        except BaseException:  # noqa: BLE001 - whatever it is, the round is to show it
            place.fault(plan.name, format_exc())
            os._exit(1)


class Client:
    """One process: its ledger, and the threads that share it."""

    def __init__(
        self,
        place: Place,
        pace: Pace,
        plan: ClientPlan,
        instances: Sequence[str],
        responses: Sequence[str],
    ) -> None:
        self.place = place
        self.pace = pace
        self.plan = plan
        self.instances = instances
        self.responses = responses
        self.nemeses: list[Inside] = arm(place, plan)
        self.callers = {
            workspace: Caller(place, plan, workspace, self.nemeses) for workspace in WORKSPACES
        }
        self._alive = hold(place.folder("alive"))

    def work(self) -> None:
        """All threads walk from instance to instance; then the ledgers are closed."""
        others = [
            Thread(target=self._walk_alone, args=(f"{self.plan.name}-{n}",), daemon=True)
            for n in range(1, self.plan.threads)
        ]
        for thread in others:
            thread.start()
        self.walk(f"{self.plan.name}-0")
        for thread in others:
            thread.join()
        for caller in self.callers.values():
            caller.close()

    def _walk_alone(self, name: str) -> None:
        try:
            self.walk(name)
        except BaseException:  # noqa: BLE001 - as there
            self.place.fault(name, format_exc())

    def walk(self, name: str) -> None:
        """One thread's calls."""
        walk = Walk(self, name)
        try:
            for number in range(self.pace.current(), len(self.instances)):
                wait = self.pace.left_until(number) + walk.random.uniform(-0.005, 0.005)
                if wait > 0:
                    sleep(wait)
                walk.turn(number)
                self._end_or_fork(name)
        finally:
            walk.close()

    def _end_or_fork(self, name: str) -> None:
        """What the main thread may do between two calls."""
        for nemesis in self.nemeses:
            if isinstance(nemesis, Fork) and nemesis.wants_to_fork():
                child = os.fork()
                if child == 0:
                    self._go_on_as_child(f"{name}~{nemesis.forks}")
                Thread(target=os.waitpid, args=(child, 0), daemon=True).start()
            if isinstance(nemesis, ExitInFlight) and nemesis.wants_to_exit():
                nemesis.strike()
                ctypes.pythonapi.Py_Exit(0)  # as the end of a program: nobody waits for daemons

    def _go_on_as_child(self, name: str) -> None:
        try:
            self._alive = hold(self.place.folder("alive"))
            while Walk.gates:
                os.close(Walk.gates.pop())
            for caller in self.callers.values():
                caller.forget_loop()
            self.walk(name)
            for caller in self.callers.values():
                caller.close()
        except BaseException:  # noqa: BLE001 - as there
            self.place.fault(name, format_exc())
        finally:
            os._exit(0)


class Walk:
    """One thread's notebook and chances."""

    gates: ClassVar[set[int]] = set()
    """Open descriptors. A forked child that kept its parent's would be inside calls for good."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name
        self.random = Random(f"{client.plan.seed}/{name}")
        self._notebook = Notebook(client.place.folder("calls"), name)
        self._gate = os.open(client.place.folder("gate"), os.O_RDONLY)
        self.gates.add(self._gate)
        self._pause = str(client.place.folder("pause"))
        self._owed: list[tuple[int, Asked]] = []

    def close(self) -> None:
        """No more calls."""
        self._notebook.close()
        self.gates.discard(self._gate)
        os.close(self._gate)

    def turn(self, number: int) -> None:
        """One to four calls to an instance; what was not answered before may be asked again."""
        for _ in range(self.random.choice((1, 1, 2, 2, 3, 4))):
            asked = self._draw(number)
            told = self._ask(number, asked)
            if isinstance(told, Unknown) and self.random.random() < 0.7:  # noqa: PLR2004
                told = self._ask(number, asked)
            if isinstance(told, Unknown):
                self._owed.append((number, asked))
        if self._owed and self.random.random() < 0.3:  # noqa: PLR2004
            self._ask(*self._owed.pop())

    def _draw(self, number: int) -> Asked:
        random = self.random
        # Most instances are of one workspace; now and then the other one tries, too.
        own = number % len(WORKSPACES)
        workspace = WORKSPACES[own if random.random() < 0.9 else 1 - own]  # noqa: PLR2004
        kind = random.random()
        if kind < 0.7:  # noqa: PLR2004
            response = random.randrange(len(self._client.responses))
            key = f"k-{response}" if random.random() < 0.8 else f"k-{random.randrange(3)}"  # noqa: PLR2004
            return Attempt(workspace, self._client.responses[response], key)
        if kind < 0.75:  # noqa: PLR2004
            return Withdrawal(workspace, random.choice(("withdrawn", "expired")))
        if kind < 0.85:  # noqa: PLR2004
            return AskWinner(workspace)
        return AskWait(workspace) if kind < 0.92 else AskHistory(workspace)  # noqa: PLR2004

    def _ask(self, number: int, asked: Asked) -> Told:
        client = self._client
        instance = client.instances[number]
        with self._not_paused():
            call = self._notebook.invoke(instance, asked)
            told = client.callers[asked.workspace].ask(instance, asked, self._name)
            self._notebook.complete(call, told)
        return told

    @contextmanager
    def _not_paused(self) -> Iterator[None]:
        """An operator may want nobody inside a call."""
        while os.path.exists(self._pause):
            sleep(0.005)
        fcntl.flock(self._gate, fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)


def hold(path: os.PathLike[str]) -> int:
    """Be counted among the living, until the very end of this process."""
    descriptor = os.open(path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor
