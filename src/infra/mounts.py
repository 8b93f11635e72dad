"""The file system that a file is on, as far as the system says."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from .health import Level

_MOUNTS = "/proc/self/mountinfo"

_SHARED = {
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.ceph", "fuse.davfs",
    "fuse.gcsfuse", "fuse.glusterfs", "fuse.mount_s3", "fuse.osxfs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "gfs2", "gpfs", "grpcfuse", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "prl_fs",
    "smb3", "smbfs", "vboxsf", "virtiofs",
}  # fmt: skip
"""Those of other machines: over a network, or between a virtual machine and its host."""

_JUDGEMENTS: tuple[tuple[set[str], Level, str], ...] = (
    (
        _SHARED,
        "warning",
        "of another machine: locks may not hold there, and then two can win; use a local disk",
    ),
    ({"ramfs", "tmpfs"}, "warning", "in memory: nothing survives a reboot; use a disk"),
    ({"overlay"}, "note", "a container's own layer: the ledger goes when the container does"),
)


class Mount(NamedTuple):
    """A file system at its place."""

    point: str
    kind: str
    read_only: bool


def mount_of(path: str, mounts: str) -> Mount | None:
    """The mount that has the file at an absolute path without symbolic links.

    :param mounts: what the system says is mounted, in the format of Linux's ``mountinfo``.
    """
    found: Mount | None = None
    for line in mounts.split("\n"):
        mount = _parsed(line)
        # The longest place that leads to it; of two at one place, the later hides the earlier.
        if (
            mount is not None
            and os.path.commonpath([mount.point, path]) == mount.point
            and (found is None or len(mount.point) >= len(found.point))
        ):
            found = mount
    return found


def _parsed(line: str) -> Mount | None:
    before, separator, after = line.partition(" - ")
    placed, of_its_own = before.split(" "), after.split(" ")
    if not separator or len(placed) < 6 or len(of_its_own) < 2:  # noqa: PLR2004
        return None
    # A name's odd bytes are escaped one by one, also where several of them make a letter.
    name = re.sub(rb"\\([0-7]{3})", _unescaped, os.fsencode(placed[4]))
    point = os.fsdecode(name)
    if not point.startswith("/"):
        return None
    options = {*placed[5].split(","), *of_its_own[-1].split(",")}
    return Mount(point, of_its_own[0], "ro" in options)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    return bytes([int(escape[1], 8) & 0xFF])


def read_mounts() -> str | None:
    """What is mounted; None where the system does not say so."""
    try:
        with open(_MOUNTS, "rb") as file:
            return os.fsdecode(file.read())
    except OSError:
        return None


def judged(mount: Mount, path: str) -> tuple[Level, str | None]:
    """What is to be said of a ledger at a path there."""
    if mount.point == path:
        return "warning", "the file alone is mounted here, not the folder with its -wal: mount that"
    if mount.read_only:
        return "warning", "it is mounted read-only: nothing can be decided here"
    for kinds, level, advice in _JUDGEMENTS:
        if mount.kind in kinds:
            return level, advice
    if mount.kind.startswith("fuse"):
        return "note", "a file system of a program: find out whether its locks and syncs hold"
    return "fine", None
