"""What all commands share: the options before the command, and what the exit status says."""

from __future__ import annotations

import os

import click

from ..admin import LedgerAdmin
from ..domain.errors import IdempotencyConflict, OutsideWorkspace, StoreError
from ..domain.outcomes import Closed, Lost, Replayed, Withdrawn, Won
from ..ledger import ResolutionLedger

EXIT_CODES = {
    Won: 0,
    Withdrawn: 0,
    StoreError: 1,
    ValueError: 2,  # usage, and text that is no id, key, label, record, checkpoint or export
    Replayed: 10,
    Lost: 11,
    IdempotencyConflict: 12,
    OutsideWorkspace: 13,
    Closed: 14,
}
"""What the exit status says, for answers and for errors alike."""

EXIT_TIMED_OUT = 15
EXIT_FINDINGS = 20
EXIT_INTERRUPTED = 130


class Settings:
    """The options before the command."""

    def __init__(
        self, ledger: str | None, workspace: str | None, *, named: bool, as_json: bool
    ) -> None:
        self._ledger = ledger
        self._workspace = workspace
        self.only_workspace = workspace if named else None
        """The one that an operator asks for. The environment is the callers': it hides nothing."""
        self.as_json = as_json

    def open(self) -> ResolutionLedger:
        """The ledger that the options name, for the workspace that they name."""
        target = self._target()
        if self._workspace is None:
            raise click.UsageError("Name the workspace: --workspace or RESOLUTION_WORKSPACE.")
        return ResolutionLedger.open(target, workspace=self._workspace)

    def open_admin(self) -> LedgerAdmin:
        """The ledger that the options name, with all its workspaces."""
        return LedgerAdmin.open(self._target())

    def refuse_the_ledger(self, path: str) -> None:
        """Refuse a file of the ledger's own where another one is to be read or written.

        To close it would drop the locks that this process has there; and what is in the gate's
        place is no gate.

        :raises click.UsageError: if it is one.
        """
        ledger = os.path.realpath(self._target())
        own = {ledger + suffix for suffix in ("", "-wal", "-shm", "-journal", "-gate")}
        if path != "-" and os.path.realpath(path) in own:
            raise click.UsageError(f"{path} is the ledger itself.")

    def _target(self) -> str:
        if self._ledger is None:
            raise click.UsageError("Name the ledger: --ledger or RESOLUTION_LEDGER.")
        if self._ledger == ":memory:":
            # It would end with the command, and every resolve would win.
            raise click.UsageError("A ledger in memory is of no use on the command line.")
        return self._ledger
