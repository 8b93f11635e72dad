"""A crowd that waits for one answer, in a process that may open few files."""

from __future__ import annotations

import os
import resource
from multiprocessing.synchronize import Barrier
from threading import Thread

from listeners import until_listening
from resolution_ledger import ResolutionLedger
from samples import WORKSPACE, instance, record, response

FILES, CROWD = 200, 300


def wait_in_a_crowd(_: Barrier, path: str) -> tuple[list[str], int]:
    """What each of the crowd was told, and how many more files are open afterwards."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    told: list[str] = []
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(0, 1, 1))
        before = len(os.listdir("/proc/self/fd"))

        def wait() -> None:
            try:
                told.append(str(ledger.wait(instance(1))))
            except Exception as error:  # noqa: BLE001 (the test is to show it)
                told.append(repr(error))

        threads = [Thread(target=wait) for _ in range(CROWD)]
        for thread in threads:
            thread.start()
        until_listening(CROWD)
        ledger.resolve(record(1, 1, 1))
        for thread in threads:
            thread.join()
        return told, len(os.listdir("/proc/self/fd")) - before


ANSWER = response(1)
