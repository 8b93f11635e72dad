"""The nemeses, by the place from which they strike."""

from __future__ import annotations

INSIDE = (
    "kill in the transaction",
    "kill in the commit",
    "kill in a write",
    "stop in the transaction",
    "full database",
    "small files",
    "query only",
    "stepped clock",
    "failing clock",
    "interrupt",
    "interrupt a thread",
    "fork",
    "exit with calls in flight",
)
"""Carried by clients."""

OUTSIDE = (
    "kill",
    "held lock",
    "checkpoint storm",
    "endless reader",
    "auditor",
    "read-only file",
    "closed directory",
)
"""Processes of their own."""

ALONE = ("replaced by a copy", "replaced by a backup", "full disk")
"""They take the ledger's directory for themselves: no two of them in a round."""

SIGNALS = ("kill in the commit", "kill in a write", "interrupt", "small files")
"""Each needs the timer, or the file size limit, of its process for itself."""

EVERY = (*INSIDE, *OUTSIDE, *ALONE)
