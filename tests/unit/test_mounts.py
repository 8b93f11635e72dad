"""Which file system a path is on, by the text in which Linux lists what is mounted."""

from __future__ import annotations

import pytest

from resolution_ledger.infra import mounts
from resolution_ledger.infra.mounts import Mount, judged, mount_of

LISTED = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
23 22 0:21 / /proc rw,nosuid - proc proc rw
24 22 0:31 / /run rw,nosuid shared:7 - tmpfs tmpfs rw,size=1024k
25 22 0:40 / /srv/share rw,relatime shared:9 master:2 - nfs4 host:/share rw,vers=4.2
26 25 8:17 / /srv/share/local rw,relatime - xfs /dev/sdb1 rw,attr2
27 22 0:41 / /mnt/a\040b\134c rw,relatime - cifs //host/x rw,vers=3.0
28 22 8:33 / /media ro,relatime - ext4 /dev/sdc1 ro
29 22 8:34 / /frozen rw,relatime - ext4 /dev/sdc2 ro,errors=remount-ro
30 22 0:50 / /hidden rw,relatime - nfs host:/old rw
31 30 8:35 / /hidden rw,relatime - ext4 /dev/sdd1 rw
32 22 254:0 /data/ledger.db /app/ledger.db rw,relatime - ext4 /dev/vda rw
33 22 0:51 / /mnt/na\303\257ve rw,relatime - fuse.sshfs host: rw,user_id=0
"""


@pytest.mark.parametrize(
    ("path", "point", "kind"),
    [
        ("/var/ledger.db", "/", "ext4"),
        ("/run/x/ledger.db", "/run", "tmpfs"),
        ("/runx/ledger.db", "/", "ext4"),
        ("/srv/share/ledger.db", "/srv/share", "nfs4"),
        ("/srv/share/local/ledger.db", "/srv/share/local", "xfs"),
        ("/srv/shared.db", "/", "ext4"),
        ("/mnt/a b\\c/ledger.db", "/mnt/a b\\c", "cifs"),
        ("/mnt/na\u00efve/ledger.db", "/mnt/na\u00efve", "fuse.sshfs"),
        ("/hidden/ledger.db", "/hidden", "ext4"),
        ("/app/ledger.db", "/app/ledger.db", "ext4"),
    ],
)
def test_the_longest_place_that_leads_to_a_path_has_it(path: str, point: str, kind: str) -> None:
    mount = mount_of(path, LISTED)
    assert mount is not None
    assert (mount.point, mount.kind) == (point, kind)


@pytest.mark.parametrize(
    ("path", "read_only"), [("/media/x", True), ("/frozen/x", True), ("/var/x", False)]
)
def test_that_it_is_read_only_may_stand_in_either_place(path: str, *, read_only: bool) -> None:
    mount = mount_of(path, LISTED)
    assert mount is not None
    assert mount.read_only is read_only


@pytest.mark.parametrize(
    "listed", ["", "\n", "nonsense", "a b c d e f - ", "1 2 3 4 5 6 7 8\n", "é"]
)
def test_a_list_that_makes_no_sense_names_no_mount(listed: str) -> None:
    assert mount_of("/var/ledger.db", listed) is None


def test_an_escape_that_no_byte_has_is_no_failure() -> None:
    mount_of("/var/x", r"1 0 8:1 / /\777 rw - ext4 /dev/vda rw")


NETWORK = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "virtiofs", "vboxsf"]


@pytest.mark.parametrize(
    ("kind", "level", "word"),
    [
        *((kind, "warning", "locks may not hold") for kind in NETWORK),
        ("tmpfs", "warning", "reboot"),
        ("ramfs", "warning", "reboot"),
        ("overlay", "note", "container"),
        ("fuse.mergerfs", "note", "program"),
        ("fuseblk", "note", "program"),
        ("ext4", "fine", None),
        ("xfs", "fine", None),
        ("btrfs", "fine", None),
        ("zfs", "fine", None),
    ],
)
def test_what_is_said_of_a_kind_of_file_system(kind: str, level: str, word: str | None) -> None:
    said, advice = judged(Mount("/srv", kind, read_only=False), "/srv/ledger.db")
    assert said == level
    assert (advice is None) == (word is None)
    assert word is None or word in str(advice)


def test_a_read_only_file_system_is_warned_of() -> None:
    level, advice = judged(Mount("/", "ext4", read_only=True), "/ledger.db")
    assert level == "warning"
    assert "read-only" in str(advice)


def test_a_file_that_is_mounted_without_its_folder_is_warned_of() -> None:
    level, advice = judged(Mount("/app/ledger.db", "ext4", read_only=False), "/app/ledger.db")
    assert level == "warning"
    assert "folder" in str(advice)


def test_where_the_system_lists_nothing_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "_MOUNTS", "/nowhere/mountinfo")
    assert mounts.read_mounts() is None
