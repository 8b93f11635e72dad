"""What the ledger makes of the files that a power cut has left.

A state is written out, opened as any host would open it, and asked: is the log a beginning of the
one that was written, does ``verify`` find nothing, is everything that was acknowledged still so,
and can the next question be answered?

Many states come to the same database once SQLite has read what is sound of the WAL. So only the
first of them, and one in some of the others, is looked at in full. Of the rest SQLite alone says
what they come to.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from resolution_ledger import (
    IdempotencyKey,
    InstanceId,
    LedgerAdmin,
    NotAdopted,
    NotALedger,
    RecordedAttempt,
    ResolutionError,
    ResolutionLedger,
    ResolutionRecord,
    ResponseId,
    StoreUnavailable,
    Won,
)
from torture import history
from torture.asking import submission

from .disk import Left
from .script import LEDGER, WORKSPACES, Acknowledged, submit

_ONE_IN = 8
_ASKED_AGAIN = 3
"""The newest acknowledged submissions, each of which is sent once more."""


class Verdict(Struct, frozen=True):
    """What came of a state."""

    length: int | None
    """Of the log; None where the ledger failed."""
    problems: tuple[str, ...] = ()


class _Wrong(Exception):
    """An answer that nobody may get."""


class Judge:
    """Of the states of one recording."""

    def __init__(self, log: Sequence[RecordedAttempt], place: Path, *, whole: int = 0) -> None:
        """Given the log as it was in the end, and an empty directory to work in.

        :param whole: how many events come together, so that there are none or so many.
        """
        self.looked_at = 0
        """States that the ledger itself was opened on."""
        self._log = tuple(log)
        self._place = place
        self._verdicts: dict[bytes, Verdict] = {}
        self._whole = whole
        self._turn = 0
        after = InstanceId.mint({"question": "after the power cut"})
        response = ResponseId.mint({"answer": "still here"})
        self._next = ResolutionRecord(after, response, IdempotencyKey("after"))
        self._sequences: dict[tuple[str, history.Submission], int] = {
            (str(attempt.instance), submission(attempt)): attempt.sequence for attempt in log
        }

    def sequence(self, acknowledged: Acknowledged) -> int:
        """Where in the log it stands. A log that lacks it is at fault, whatever the power does."""
        return self._sequences[acknowledged.instance, acknowledged.asked]

    def judge(self, left: Left, acknowledged: Sequence[Acknowledged]) -> Verdict:
        """What came of a state, by which so much was acknowledged."""
        self._turn += 1
        image = self._recovered(left)
        known = self._verdicts.get(image)
        if known is not None and self._turn % _ONE_IN:
            return known
        self.looked_at += 1
        verdict = self._look(left, acknowledged)
        if known is not None and known != verdict:
            twice = f"the same database came to {known} and to {verdict}"
            return Verdict(None, (*verdict.problems, twice))
        self._verdicts[image] = verdict
        return verdict

    def _recovered(self, left: Left) -> bytes:
        """What database it comes to, by SQLite alone."""
        path = self._write_out(left)
        hashed = blake2b(digest_size=16)
        if path.exists():
            try:
                with closing(sqlite3.connect(path)) as connection:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except sqlite3.Error as error:
                hashed.update(str(error).encode())
            hashed.update(b"there")
            hashed.update(path.read_bytes())
        return hashed.digest()

    def _write_out(self, left: Left) -> Path:
        for entry in os.scandir(self._place):
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                os.remove(entry)
        written: dict[int, Path] = {}
        for name, file in left.names.items():
            path = self._place / name
            if file in written:
                os.link(written[file], path)
            else:
                path.write_bytes(left.contents[file])
                written[file] = path
        return self._place / LEDGER

    def _look(self, left: Left, acknowledged: Sequence[Acknowledged]) -> Verdict:
        path = self._write_out(left)
        problems: list[str] = []
        before: int | None = None
        try:
            # Either may be the first to open it, and so has to make sense of the WAL.
            if self.looked_at % 2:
                before = self._before(path)
            adopted = self._answer(path)
            length = self._read(path, problems)
            if before not in {None, length}:
                problems.append(f"there were {before} events, and then {length}")
            if 0 < length < self._whole:
                problems.append(f"{length} events of {self._whole} that come together")
            there = [each for each in acknowledged if self.sequence(each) <= length]
            self._ask_again(path, there, problems)
            if self._read(path, problems) != length:
                problems.append("what was sent again was put on record again")
        except (ResolutionError, sqlite3.Error, _Wrong) as error:
            return Verdict(None, (*problems, f"{type(error).__name__}: {error}"))
        return Verdict(0 if adopted else length, tuple(problems))

    def _before(self, path: Path) -> int | None:
        """How long the log is, to who only reads. None: there is no ledger yet, says the error."""
        with LedgerAdmin.open(path) as admin:
            try:
                return int(admin.verify().length)
            except (NotALedger, NotAdopted, StoreUnavailable):
                return None

    def _answer(self, path: Path) -> bool:
        """The next question is answered, on a ledger that is made if need be.

        Returns whether it was made of a one-row table: that is not the caller's to do.
        """
        adopted = False
        with ResolutionLedger.open(path, workspace=WORKSPACES[0], lock_timeout=1) as ledger:
            try:
                answer = ledger.resolve(self._next)
            except NotAdopted:
                with LedgerAdmin.open(path) as admin:
                    adopted = bool(admin.adopt())
                answer = ledger.resolve(self._next)
        if answer != Won():
            raise _Wrong(f"the next answer was told {answer}")
        return adopted

    def _read(self, path: Path, problems: list[str]) -> int:
        """The length of the log without that answer."""
        with LedgerAdmin.open(path) as admin:
            problems += [f"verify: {finding}" for finding in admin.verify().findings]
            *log, newest = admin.attempts()
        if newest.instance != self._next.instance or tuple(log) != self._log[: len(log)]:
            problems.append("the log is not a beginning of what was written")
        return len(log)

    def _ask_again(
        self, path: Path, acknowledged: Sequence[Acknowledged], problems: list[str]
    ) -> None:
        """Ask who has won what was won, and send the newest submissions again."""
        with ExitStack() as stack:
            ledgers = {
                workspace: stack.enter_context(
                    ResolutionLedger.open(path, workspace=workspace, lock_timeout=1)
                )
                for workspace in WORKSPACES
            }
            for each in acknowledged:
                if each.told == history.Won() and isinstance(each.asked, history.Attempt):
                    winner = ledgers[each.asked.workspace].winner(InstanceId(each.instance))
                    if str(winner) != each.asked.response:
                        problems.append(f"{each} has the winner {winner}")
            for each in acknowledged[-_ASKED_AGAIN:]:
                told = submit(ledgers[each.asked.workspace], each.instance, each.asked)
                if told != _told_again(each):
                    problems.append(f"{each} is told {told}")


def _told_again(each: Acknowledged) -> history.Told:
    """What the same submission is told from then on."""
    match each.told, each.asked:
        case history.Won(), history.Attempt(response=response):
            return history.Replayed(response, own=True)
        case history.Withdrawn(), history.Withdrawal(reason=reason):
            return history.Closed(reason)
    return each.told
