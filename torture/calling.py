"""One call of a client: what the ledger answers or raises, as it is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from threading import Lock
from time import monotonic, time_ns
from traceback import format_exception
from typing import Any, cast

from resolution_ledger import (
    AsyncResolutionLedger,
    Closed,
    IdempotencyConflict,
    InstanceId,
    NotALedger,
    OutsideWorkspace,
    ResolutionLedger,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)

from . import history
from .asking import entry, step, told
from .history import Asked, Told
from .nemeses.inside import Inside, Struck
from .place import Place
from .plan import ClientPlan


class Caller:
    """Asks the ledger, for one workspace, in the style of its client."""

    def __init__(
        self, place: Place, plan: ClientPlan, workspace: str, nemeses: Sequence[Inside]
    ) -> None:
        self._place = place
        self._plan = plan
        self._workspace = workspace
        self._nemeses = nemeses
        self._options: dict[str, Any] = {
            "workspace": workspace,
            "durability": plan.durability,
            "lock_timeout": plan.lock_timeout,
            "clock": self._clock,
        }
        # Whoever looks while another one makes the ledger finds an empty file.
        self._expected = {StoreBusy, StoreUnavailable} | (set() if plan.made else {NotALedger})
        self._ledger: ResolutionLedger | AsyncResolutionLedger | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inherited: object = None
        self._opening = Lock()

    def _clock(self) -> int:
        tick = time_ns()
        for nemesis in self._nemeses:
            tick = nemesis.tick(tick)
        return tick

    def ask(self, instance: str, asked: Asked, by: str) -> Told:
        """Make the call, under a label. Nothing is raised here, whatever is raised inside."""
        error: BaseException | None = None
        answer: Any = None
        took, begun = 0.0, monotonic()
        try:
            try:
                for nemesis in self._nemeses:
                    nemesis.in_call()
                answer = self._call(InstanceId.parse(instance), asked, by)
            except BaseException as raised:  # noqa: BLE001 - it is looked at below
                error = raised
            took = monotonic() - begun
            self._settle(error)
        except (Struck, KeyboardInterrupt) as late:  # on the way back
            error = late
            self._settle(late)
        if error is None:
            return _written_down(asked, answer)
        return self._told_of(error, took)

    def _settle(self, error: BaseException | None) -> None:
        """From here on, nothing may come that was meant for the inside of the call."""
        while True:
            try:
                for nemesis in self._nemeses:
                    nemesis.after_call(error)
                return
            except (Struck, KeyboardInterrupt):  # it was on its way
                continue

    def forget_loop(self) -> None:
        """In a forked child: an event loop is one process's, and its ledger goes with it."""
        if self._loop is not None:
            # Kept, since to close it, as its end would, is to close the parent's.
            self._inherited = self._loop, self._ledger
            self._loop, self._ledger = None, None

    def close(self) -> None:
        """Close the ledger."""
        ledger, self._ledger = self._ledger, None
        if isinstance(ledger, AsyncResolutionLedger):
            cast(asyncio.AbstractEventLoop, self._loop).run_until_complete(ledger.close())
        elif ledger is not None:
            ledger.close()
        if self._loop is not None:
            self._loop.close()

    def _call(self, instance: InstanceId, asked: Asked, by: str) -> Any:
        if self._plan.style == "fresh":
            with ResolutionLedger.open(self._place.ledger, **self._options) as ledger:
                return step(ledger, instance, asked, by)()
        if self._plan.style == "asynchronous":
            return self._call_in_loop(instance, asked, by)
        with self._opening:
            if self._ledger is None:
                self._ledger = ResolutionLedger.open(self._place.ledger, **self._options)
        return step(cast(ResolutionLedger, self._ledger), instance, asked, by)()

    def _call_in_loop(self, instance: InstanceId, asked: Asked, by: str) -> Any:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._ledger = AsyncResolutionLedger.open(self._place.ledger, **self._options)
        ledger = cast(AsyncResolutionLedger, self._ledger)
        answer: Awaitable[Any] = step(ledger, instance, asked, by)()
        return self._loop.run_until_complete(answer)

    def _told_of(self, error: BaseException, took: float) -> Told:
        name, message = type(error).__name__, str(error)
        match error:
            case IdempotencyConflict() | OutsideWorkspace():
                return told(error)
            case StoreError(outcome_unknown=unknown):
                if isinstance(error, StoreBusy) and took < self._plan.lock_timeout - 0.001:
                    self._fault(error, f"after {took} s of {self._plan.lock_timeout}")
                elif type(error) not in self._expected:
                    self._fault(error, "no such thing should be found")
                kind = history.Unknown if unknown else history.Failed
                return kind(name, message)
            case Struck() | KeyboardInterrupt():
                return history.Unknown(name)
            case _:
                self._fault(error, "it is none of the ledger's errors")
                return history.Unknown(name, message)

    def _fault(self, error: BaseException, reason: str) -> None:
        trace = "".join(format_exception(error))
        self._place.fault(self._plan.name, f"{type(error).__name__}, {reason}:\n{trace}")


def _written_down(asked: Asked, answer: Any) -> Told:
    if isinstance(asked, history.AskWinner):
        return history.WinnerIs(None if answer is None else str(answer))
    if isinstance(asked, history.AskWait) and not isinstance(answer, Closed):
        return history.Nothing() if answer is None else history.WinnerIs(str(answer))
    if isinstance(asked, history.AskHistory):
        return history.HistoryIs(tuple(map(entry, answer)))
    return told(answer)
