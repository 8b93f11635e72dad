"""Where a round happens: the ledger in a directory of its own, and what the round writes beside."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from time import monotonic

from msgspec import Struct


def scratch() -> str:
    """Where all happens: in memory if possible. To sync a disk takes longer than all else."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()  # noqa: S108


class Place(Struct, frozen=True):
    """A directory. The ledger's own is a part of it, so that nothing of ours shares its disk."""

    directory: str

    @property
    def ledger(self) -> str:
        """The path of the ledger."""
        return f"{self.directory}/ledger/ledger.db"

    def folder(self, name: str) -> Path:
        """A part of it: "calls", "struck", "faults", "stopped", "stacks"."""
        return Path(self.directory, name)

    def make(self) -> None:
        """Make the parts."""
        for name in ("ledger", "calls", "struck", "faults", "stopped", "stacks"):
            self.folder(name).mkdir()
        self.folder("alive").touch()

    def strike(self, nemesis: str) -> None:
        """Note that a nemesis has really struck. It outlives whoever is killed the moment after."""
        self.append(f"struck/{nemesis}", "+")

    def fault(self, client: str, text: str) -> None:
        """Note what must not happen at all."""
        self.append(f"faults/{client}", text + "\n")

    def append(self, name: str, text: str) -> None:
        """Add to a file, in one write."""
        mode = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(f"{self.directory}/{name}", mode, 0o666)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


class Pace(Struct, frozen=True):
    """When each instance has its turn, so that all who race for it meet there."""

    begin: float
    step: float
    instances: int

    def current(self) -> int:
        """The instance whose turn it is, or the number of instances at the end."""
        return min(self.instances, max(0, int((monotonic() - self.begin) / self.step)))

    def left_until(self, number: int) -> float:
        """Seconds until the instance has its turn."""
        return self.begin + number * self.step - monotonic()

    @property
    def end(self) -> float:
        """When the last one has had its turn."""
        return self.begin + self.instances * self.step
