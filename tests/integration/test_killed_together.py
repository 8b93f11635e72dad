"""Threads that are committed together, in a process that is killed."""

from __future__ import annotations

from pathlib import Path
from random import Random

from integration.winners_together import win_until_killed
from processes import PATIENCE, spawning
from resolution_ledger import LedgerAdmin, ResolutionLedger
from samples import WORKSPACE, instance, response

KILLS, FAR = 8, 1_000_000


def test_what_was_acknowledged_before_a_process_was_killed_is_on_record(path: Path) -> None:
    """Each process goes on where the one before was killed, in the middle of whatever it did."""
    draw = Random(0)  # noqa: S311 (a reproducible draw, no secret)
    acknowledged: list[int] = []
    for number in range(KILLS):
        told = spawning.SimpleQueue()
        process = spawning.Process(
            target=win_until_killed, args=(str(path), number * FAR, told), daemon=True
        )
        process.start()
        acknowledged.extend(told.get() for _ in range(draw.randrange(1, 120)))
        process.kill()
        process.join(PATIENCE)
        assert not process.is_alive()
        told.close()
    assert len(set(acknowledged)) == len(acknowledged)
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        assert [ledger.winner(instance(n)) for n in acknowledged] == list(
            map(response, acknowledged)
        )
    with LedgerAdmin.open(path) as admin:
        report = admin.verify()
        assert report.clean, report.findings
        assert report.length >= len(acknowledged)
