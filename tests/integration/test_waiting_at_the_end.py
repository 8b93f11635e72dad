"""The interpreter ends while somebody waits: it ends cleanly, and at once where it should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from inside import OpenLedger
from processes import PATIENCE
from samples import instance, record, response

BEGIN = """
import asyncio, sys, threading, time
from resolution_ledger import *
path, instance, other = sys.argv[1], InstanceId(sys.argv[2]), InstanceId(sys.argv[3])
ledger = ResolutionLedger.open(path, workspace="ws-1")
"""

DAEMON = """
for _ in range(5):
    threading.Thread(target=ledger.wait, args=(instance,), daemon=True).start()
time.sleep(0.05)
print("end")
"""

ORDINARY = """
threading.Thread(target=lambda: print(ledger.wait(instance, 0.3), ledger.wait(other))).start()
print("end", flush=True)
"""

LOOP = """
ledger = AsyncResolutionLedger.open(path, workspace="ws-1")
async def main():
    waits = [asyncio.create_task(ledger.wait(instance)) for _ in range(5)]
    await asyncio.sleep(0.05)
asyncio.run(main())
print("end")
"""

WATCH = """
def watch():
    for attempt in ledger.watch():
        print(attempt.sequence, flush=True)
threading.Thread(target=watch, daemon=True).start()
time.sleep(0.2)
"""

UNTIL_INTERRUPTED = """
print("ready", flush=True)
ledger.wait(instance)
"""


def arguments(path: Path, program: str) -> list[str]:
    code = BEGIN + program
    return [sys.executable, "-c", code, str(path), instance(1).text, instance(0).text]


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        (DAEMON, "end\n"),
        (ORDINARY, f"end\nNone {response(0)}\n"),
        (LOOP, "end\n"),
        (WATCH, "1\n"),
    ],
    ids=["daemon threads", "an ordinary thread", "a loop", "a watch"],
)
def test_an_interpreter_that_ends_while_somebody_waits_ends_cleanly(
    path: Path, open_ledger: OpenLedger, program: str, printed: str
) -> None:
    open_ledger().resolve(record(0, 0, 0))
    for _ in range(5):
        done = subprocess.run(
            arguments(path, program),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


@pytest.mark.skipif(os.name != "posix", reason="signals are sent otherwise here")
def test_an_interrupt_from_the_keyboard_ends_a_wait(path: Path, open_ledger: OpenLedger) -> None:
    open_ledger().create()
    with subprocess.Popen(
        arguments(path, UNTIL_INTERRUPTED),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        while True:
            process.send_signal(signal.SIGINT)
            try:
                _, errors = process.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:  # it came just as the thread fell asleep
                continue
    assert errors.endswith("KeyboardInterrupt\n")
