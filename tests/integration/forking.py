"""A forked child, and how its parent hears of it. For workers only: pytest has threads."""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable
from typing import Any

from processes import PATIENCE, Answers, spawning
from resolution_ledger import ResolutionLedger
from samples import record


class Forked:
    """A child. Both processes come out of the constructor, and only the parent out of ``run``."""

    def __init__(self) -> None:
        self._receiving, self._sending = os.pipe()
        self._pid = os.fork()

    def run(self, work: Callable[[], Any]) -> Forked:
        """In the child: do ``work`` and end. In the parent: go on."""
        if self._pid == 0:
            report: tuple[str | None, Any]
            try:
                report = None, work()
            except BaseException:  # noqa: BLE001 (whatever it is, the test is to show it)
                report = traceback.format_exc(), None
            os.write(self._sending, pickle.dumps(report))
            os._exit(0)  # none of the parent's cleaning up
        os.close(self._sending)
        return self

    def result(self) -> Any:
        """What ``work`` returned in the child."""
        with os.fdopen(self._receiving, "rb") as results:
            sent = results.read()
        os.waitpid(self._pid, 0)
        failure, result = pickle.loads(sent)  # noqa: S301 (our own child wrote it)
        assert not failure, failure
        return result


def race(ledger: ResolutionLedger, response: int, instances: range, start: Any) -> Answers:
    """Give one response to each instance, in step with the others at the barrier."""
    answers: Answers = []
    for n in instances:
        start.wait()
        answers.append(ledger.resolve(record(n, response, response)))
    return answers


def barrier_for(processes: int) -> Any:
    """A barrier that children inherit and new processes can be given."""
    return spawning.Barrier(processes, timeout=PATIENCE)


def failure_of(call: Callable[[], object]) -> str | None:
    """The name of the error that a call ends with, None if it ends well."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 (any that is not ours would be a finding)
        return type(error).__name__
    return None
