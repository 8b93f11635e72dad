"""The file of a gate: whose it is, and what is there in its place."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.gates import gate_of, is_free
from resolution_ledger.infra.sqlite.gate import Gate

pytest.importorskip("fcntl")

MOMENT = 0.1


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o666, 0o755])
def test_its_file_is_for_whoever_may_use_the_ledger(path: Path, mode: int) -> None:
    """Whatever the mask of the process is."""
    path.chmod(mode)
    mask = os.umask(0o077)
    try:
        gate = Gate(str(path))
        assert gate.enter(0)
        gate.close()
    finally:
        os.umask(mask)
    assert stat.S_IMODE(gate_of(path).stat().st_mode) == mode & 0o666
    assert gate_of(path).read_bytes() == b""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="for root alone")
def test_its_file_is_the_ledgers_owners_where_root_makes_it(path: Path, gate: Gate) -> None:
    os.chown(path, 65534, 65534)
    assert gate.enter(0)
    made = gate_of(path).stat()
    assert (made.st_uid, made.st_gid) == (65534, 65534)


def test_it_is_beside_the_file_that_a_link_leads_to(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(path)
    gate = Gate(str(tmp_path / "link.db"))
    assert gate.enter(0)
    assert not is_free(path)
    gate.close()
    assert not gate_of(tmp_path / "link.db").exists()


@pytest.mark.parametrize(
    "what", ["a directory", "a link", "a link to a file", "unreadable", "no ledger"]
)
def test_where_there_can_be_none_everybody_is_through(
    path: Path,
    tmp_path: Path,
    new_gate: Callable[[], Gate],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    if what == "a directory":
        gate_of(path).mkdir()
    elif what == "unreadable":
        gate_of(path).touch()
        open_ = os.open

        def refuse(name: str, *arguments: int) -> int:
            if name == str(gate_of(path)):
                raise PermissionError(name)
            return open_(name, *arguments)

        monkeypatch.setattr(os, "open", refuse)
    elif what == "no ledger":
        path.unlink()
    else:
        (tmp_path / "theirs").write_bytes(b"theirs")
        gate_of(path).symlink_to(tmp_path / ("theirs" if what == "a link to a file" else "nowhere"))
    gates = [new_gate(), new_gate()]
    for seconds in (0, MOMENT):
        assert all(gate.enter(seconds) for gate in gates)
        for gate in gates:
            gate.leave()
    assert not (tmp_path / "nowhere").exists()
    if what != "no ledger":
        assert os.path.lexists(gate_of(path))


def test_a_file_that_somebody_has_given_its_name_stays_as_it_is(
    path: Path, tmp_path: Path, gate: Gate
) -> None:
    """It may be another one of ours, which is not for those who may read the ledger."""
    secret = tmp_path / "secret"
    secret.touch(0o600)
    os.link(secret, gate_of(path))
    assert gate.enter(0)
    gate.leave()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
