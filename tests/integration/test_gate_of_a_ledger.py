"""What a ledger does at its gate leaves nothing behind, whatever happens there."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from inside import OpenLedger
from integration import gate_scenarios
from integration.gates import gate_of, is_free, somebody_at_the_gate
from processes import run_alone, spawning
from resolution_ledger import ResolutionLedger, StoreBusy, Won
from samples import record

pytest.importorskip("fcntl")

SHORT = 0.2


def test_there_is_none_where_nobody_has_ever_waited(
    path: Path, ledger: ResolutionLedger, open_ledger: OpenLedger
) -> None:
    for n in range(50):
        assert ledger.resolve(record(n, 1, 1)) == Won()
        assert open_ledger(durability="normal").resolve(record(100 + n, 1, 1)) == Won()
    assert not gate_of(path).exists()


def test_it_is_made_once_somebody_waits_and_stays(
    path: Path, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    with open_ledger(lock_timeout=SHORT) as ledger:
        ledger.create()
        connection = foreign()
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            ledger.resolve(record(1, 1, 1))
        connection.execute("ROLLBACK")
        assert ledger.resolve(record(1, 1, 1)) == Won()
        assert is_free(path)
    assert gate_of(path).read_bytes() == b""


@pytest.mark.parametrize("seed", range(2))
def test_an_exception_at_any_moment_in_line_leaves_no_lock(path: Path, seed: int) -> None:
    left = run_alone(gate_scenarios.be_interrupted_in_line, str(path), 400, seed)
    assert left == {"errors": [], "locked": 0, "held": 0}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no system to tell")
@pytest.mark.parametrize("how", ["closed", "dropped"])
def test_ledgers_that_were_opened_and_closed_leave_no_thread_and_no_descriptor(
    path: Path, ledger: ResolutionLedger, how: str
) -> None:
    ledger.create()
    ledger.close()
    left = run_alone(gate_scenarios.open_and_close_many, str(path), 200, how)
    assert left == {"descriptors": 0, "free": True}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("where", ["in line", "inside", "afterwards"])
def test_a_child_holds_neither_the_gate_nor_the_lock_once_its_parent_is_dead(
    path: Path, open_ledger: OpenLedger, where: str
) -> None:
    with open_ledger() as first:
        first.create()
    told = spawning.SimpleQueue()
    process = spawning.Process(
        target=gate_scenarios.fork_at_the_gate, args=(str(path), where, told), daemon=True
    )
    with somebody_at_the_gate(path) if where == "in line" else nullcontext():
        process.start()
        messages = [told.get()]
    messages.append(told.get())
    ((child, inherited),) = [message for message in messages if message != "done"]
    try:
        assert inherited == 0
        assert is_free(path)
        process.kill()
        process.join()  # without a timeout: it would wait for the child, too
        ledger = open_ledger(lock_timeout=SHORT)
        assert ledger.resolve(record(2, 1, 1)) == Won()
        assert is_free(path)
    finally:
        os.kill(child, signal.SIGKILL)
