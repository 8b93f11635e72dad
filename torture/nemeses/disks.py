"""A small disk of the ledger's own, which somebody else fills and empties."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from random import Random
from shutil import copytree, which
from time import monotonic, sleep

from ..place import Pace, Place

_SIZE = "6m"


def mount(place: Place) -> str | None:
    """Give the ledger's directory a disk; why not, if it cannot be done."""
    if which("mount") is None:
        return "there is no mount command"
    folder = os.path.dirname(place.ledger)
    done = subprocess.run(  # noqa: S603 - fixed words and a directory of ours
        ["mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=777", "tmpfs", folder],  # noqa: S607
        capture_output=True,
        check=False,
        text=True,
    )
    return None if done.returncode == 0 else done.stderr.strip()


def unmount(place: Place, *, keep: bool) -> None:
    """Take it away again, with all that is there; or keep that, in its place."""
    folder = os.path.dirname(place.ledger)
    kept = f"{folder}-kept"
    if keep:
        copytree(folder, kept)
    subprocess.run(["umount", "--lazy", folder], capture_output=True, check=False)  # noqa: S603, S607
    if keep:
        os.rmdir(folder)
        os.rename(kept, folder)


def fill(place: Place, pace: Pace, seed: str) -> None:
    """Leave no room for a while, again and again."""
    random = Random(f"{seed}/full disk")
    filler = f"{os.path.dirname(place.ledger)}/filler"
    while monotonic() < pace.end:
        descriptor = os.open(filler, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            full = False
            for piece in (1 << 16, 1 << 12):
                with suppress(OSError):
                    while os.write(descriptor, bytes(piece)):
                        pass
                full = True
            if full:
                place.strike("full disk")
            ends = monotonic() + random.choice((0.02, 0.1, 0.3))
            while monotonic() < ends:  # whatever somebody else gives back is taken, too
                with suppress(OSError):
                    os.write(descriptor, bytes(1 << 12))
                sleep(0.005)
        finally:
            os.close(descriptor)
            os.unlink(filler)
        sleep(random.uniform(0.01, 0.1))
