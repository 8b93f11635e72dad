"""Workers for ``test_security``: processes that hold locks, and may only read."""

from __future__ import annotations

import fcntl
import os
from time import sleep
from typing import Any

from processes import PATIENCE

_WRITE_LOCK = 120
"""The byte of the ``-shm`` file that whoever writes to the WAL has locked."""


def lock_of_the_shm(path: str, ready: Any) -> None:
    """A lock for reading on the byte that writers lock for writing."""
    file = os.open(f"{path}-shm", os.O_RDONLY)
    fcntl.lockf(file, fcntl.LOCK_SH, 1, _WRITE_LOCK)
    ready.set()
    sleep(PATIENCE)


def gate(path: str, ready: Any) -> None:
    """The place at the front, for good."""
    file = os.open(f"{path}-gate", os.O_RDONLY)
    fcntl.flock(file, fcntl.LOCK_EX)
    ready.set()
    sleep(PATIENCE)
