"""The operator's door: all workspaces, the whole log, and what keeps it trustworthy."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, Self, cast, get_args

from .domain.errors import InvalidOption
from .domain.ids import InstanceId
from .domain.records import FIRST, Outcome, RecordedAttempt
from .domain.text import check_text
from .doors import Door, check_instance, check_limit, check_sequence
from .infra import adoption, news, trail, transfer
from .infra import rebuild as rebuilding
from .infra import verify as verifying
from .infra.checkpoint import Checkpoint, take_checkpoint
from .infra.database import Database
from .infra.health import Examination
from .infra.targets import open_target
from .infra.trail import Contest
from .projections.report import Finding, Progress, Report


class LedgerAdmin(Door):
    """A ledger, opened for its operator or auditor: no fence, and no way to decide.

    Every method raises a ``StoreError`` if the database cannot do its part, and
    ``LedgerClosed`` after ``close``. Only ``rebuild``, ``import_`` and ``adopt`` write; only
    ``import_`` makes a file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, target: str | os.PathLike[str], *, lock_timeout: float = 5.0) -> Self:
        """Open the ledger at a path (or ``":memory:"``, which is empty).

        :param lock_timeout: how many seconds a call waits for others that write.
        :raises InvalidOption: if an option has an impossible value.
        """
        return cls(open_target(target, lock_timeout=lock_timeout, incomplete=True))

    def attempts(
        self, after: int = 0, workspace: str | None = None, outcome: Outcome | None = None
    ) -> Iterator[RecordedAttempt]:
        """Every attempt and withdrawal on record past a sequence, in the order of commits.

        It reads by pages and holds no transaction between them, so it may be left half way.

        :raises InvalidOption: for an outcome that there is none of, or no sequence.
        :raises InvalidText: if ``workspace`` is not 1 to 512 bytes of UTF-8.
        :raises CorruptLedger: naming an event that cannot be read; nothing is skipped.
        """
        found = trail.attempts(self._database, check_sequence("after", after))
        return _only(found, workspace, outcome)

    def watch(
        self, after: int = 0, workspace: str | None = None, outcome: Outcome | None = None
    ) -> Iterator[RecordedAttempt]:
        """As :meth:`attempts`, and then each attempt as it is committed; it never ends.

        It holds no transaction while it waits, and may be left at any time. Closing the ledger
        ends it with ``LedgerClosed``. It raises what :meth:`attempts` does.
        """
        return _only(
            trail.follow(self._database, check_sequence("after", after)), workspace, outcome
        )

    def history(self, instance: InstanceId) -> tuple[RecordedAttempt, ...]:
        """What every workspace tried on the instance, oldest first."""
        return trail.history(self._database, check_instance(instance))

    def resolution(self, instance: InstanceId) -> RecordedAttempt | None:
        """What resolved or closed the instance, whosever it was; None if nothing did."""
        return trail.resolution(self._database, check_instance(instance))

    def state_at(self, sequence: int) -> Iterator[RecordedAttempt]:
        """What had become of each instance when the log had ``sequence`` events.

        For each that was won or closed by then, what did it, in the order of commits.

        :raises InvalidOption: if the log is shorter.
        """
        upto = check_sequence("sequence", sequence)
        length = self._database.read(lambda session: session.head_sequence())
        if upto > length:
            raise InvalidOption("sequence", upto, f"the log has {length} events")
        found = trail.attempts(self._database, upto=upto)
        return (attempt for attempt in found if attempt.outcome in FIRST)

    def contested(self, limit: int = 20) -> tuple[Contest, ...]:
        """The instances that got the most different answers, most first.

        :raises InvalidOption: if ``limit`` is not a positive 64-bit integer.
        """
        return trail.contested(self._database, check_limit(limit))

    def verify(
        self,
        checkpoint: str | None = None,
        *,
        progress: Callable[[Progress], object] | None = None,
        finding: Callable[[Finding], object] | None = None,
    ) -> Report:
        """Everything that is wrong with the ledger, up to the head that it has now.

        It changes nothing, goes on after a finding, and needs no more memory for a larger
        ledger. Others may go on writing.

        :param checkpoint: a text that :meth:`checkpoint` once returned. It shows what no look
            at the ledger alone can: a tail that was cut off, an older copy put back, a log
            written anew.
        :param progress: called from time to time.
        :param finding: called with each finding at once, also past those that a report holds.
        :raises InvalidCheckpoint: if ``checkpoint`` is no such text.
        """
        known = None if checkpoint is None else Checkpoint.parse(checkpoint)
        return verifying.verify(self._database, known, progress, finding)

    def rebuild(
        self,
        progress: Callable[[Progress], object] | None = None,
        *,
        finding: Callable[[Finding], object] | None = None,
    ) -> Report:
        """Make the read models what the log demands, and put back missing guards and indexes.

        The report's findings are what was wrong and is mended. Others may go on writing; it may
        be killed at any moment and run again.

        :raises CorruptLedger: naming an event that cannot be read.
        """
        return rebuilding.rebuild(self._database, progress, finding)

    def examine(self, *, check: bool = True) -> Examination:
        """What is to be said of the build of SQLite, the file, and where it is.

        It changes nothing, and works on files that are damaged or no ledger: what is wrong is an
        observation, not an error. :meth:`verify` is about what is in the log, this is not.

        :param check: have SQLite look through all of the file, which takes longer the larger
            it is. For as long the WAL cannot begin anew.
        :raises StoreUnavailable: if there is no file.
        """
        return self._database.examine(check=check)

    def checkpoint(self) -> str:
        """A short text that commits to the whole log, to be kept where nobody can change it."""
        return str(self._database.read(take_checkpoint))

    def export(self, file: BinaryIO, progress: Callable[[Progress], object] | None = None) -> str:
        """Write the log as JSON lines to a binary file; return the checkpoint of its end.

        :raises InvalidOption: if ``file`` is open for text.
        :raises CorruptLedger: naming an event that no JSON can hold.
        """
        return str(transfer.export(self._database, _binary(file), progress))

    def import_(self, file: BinaryIO, progress: Callable[[Progress], object] | None = None) -> str:
        """Make an empty or new ledger the exported one; return the checkpoint of its end.

        :raises InvalidOption: if ``file`` is open for text.
        :raises InvalidExport: naming the line where it is not sound; nothing was written.
        :raises LedgerNotEmpty: if the ledger has events already.
        """
        return str(transfer.import_(self._database, _binary(file), progress))

    def adopt(self) -> int:
        """Take over the winners of a one-row table that decided until now; return how many.

        :raises NothingToAdopt: if there is no such table, or it was adopted already.
        :raises CannotAdopt: listing rows that no ledger could hold; nothing was changed.
        """
        return adoption.adopt(self._database)

    def close(self) -> None:
        """Let calls in flight finish and close every connection. May be called twice."""
        news.close(self._database)


def _only(
    found: Iterator[RecordedAttempt], workspace: str | None, outcome: Outcome | None
) -> Iterator[RecordedAttempt]:
    """Those of one workspace, of one outcome."""
    if workspace is not None:
        check_text("workspace", workspace)
    if outcome is not None and outcome not in get_args(Outcome):
        raise InvalidOption("outcome", outcome, f"not one of {', '.join(get_args(Outcome))}")
    return (
        attempt
        for attempt in found
        if workspace in (None, attempt.workspace) and outcome in (None, attempt.outcome)
    )


def _binary(file: BinaryIO) -> BinaryIO:
    if isinstance(cast(object, file), io.TextIOBase):
        raise InvalidOption("file", file, "open it for bytes")
    return file
