"""Workers that die, and leave a ledger as it was while it was in use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import os, sys
from resolution_ledger import IdempotencyKey, InstanceId, ResolutionLedger, ResolutionRecord
from resolution_ledger import ResponseId

ledger = ResolutionLedger.open(sys.argv[1], workspace="ws-1")
for n in range(int(sys.argv[2])):
    question, answer = InstanceId.mint({"question": n}), ResponseId.mint({"answer": 1})
    ledger.resolve(ResolutionRecord(question, answer, IdempotencyKey(f"key-{n}"), ""))
os._exit(0)
"""


def leave_a_wal(path: Path, wins: int = 3) -> None:
    """Response 1 wins so many instances, from 0 on, and nobody closes the ledger."""
    subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(path), str(wins)], check=True, env=os.environ
    )
    assert Path(f"{path}-wal").stat().st_size
