"""What must hold at the end of a round, whatever has struck."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from resolution_ledger import LedgerAdmin

from .against_log import contradictions
from .asking import entry
from .checker import refusals
from .history import Call, Entry, Unknown
from .nemeses.replacing import Replacement, replacement
from .place import Place
from .refusal import Refusal, of_unknown_fate

_STALE = 20_000_000
"""Nanoseconds for which ``winner`` may still look at a file that was replaced, and for the machine
to be slow."""


class Judgement(Struct, frozen=True):
    """What was found. All of it is empty for a sound ledger."""

    refused: list[Refusal]
    """Histories that no order of the calls explains."""
    contradicted: list[Refusal]
    """Calls that the log does not bear out: an acknowledged attempt that is missing, above all."""
    findings: list[str]
    """Read models that differ from the log, and whatever else ``verify`` says."""

    @property
    def clean(self) -> bool:
        """Whether there is nothing."""
        return not (self.refused or self.contradicted or self.findings)


def judge(place: Place, calls: Sequence[Call]) -> Judgement:
    """Judge the calls of a round by the contract, and the log by the calls."""
    log, findings = _look(place)
    done = replacement(place)
    if done is None:
        return Judgement(refusals(calls), contradictions(calls, log), findings)
    first, second = _epochs(calls, done)
    before = log[: done.entries]
    return Judgement(
        [*refusals(first), *refusals(second, before=before)],
        # The first log is gone, but for what the copy had of it.
        contradictions(second, log, before=done.entries),
        findings,
    )


def _look(place: Place) -> tuple[list[Entry], list[str]]:
    with LedgerAdmin.open(place.ledger) as admin:
        report = admin.verify()
        return [*map(entry, admin.attempts())], [str(finding) for finding in report.findings]


def _epochs(calls: Sequence[Call], done: Replacement) -> tuple[list[Call], list[Call]]:
    """The calls to the file that was there, and to the one that came.

    Those that were made meanwhile may have gone to either, so each epoch has them without an end;
    and so do those before it of which nobody knows, since they may yet happen.
    """
    first, second = [], []
    for call in calls:
        if call.completed is not None and call.completed < done.before:
            first.append(call)
            if of_unknown_fate(call):
                second.append(call)
        elif call.invoked > done.after + (0 if done.paused else _STALE):
            second.append(call)
        else:
            unknown = _unanswered(call)
            first.append(unknown)
            second.append(unknown)
    return first, second


def _unanswered(call: Call) -> Call:
    told = Unknown("the file was replaced meanwhile")
    return Call(
        call.client, call.number, call.instance, call.asked, call.invoked, call.completed, told
    )


def shown(refused: Sequence[Refusal]) -> str:
    """Refusals as people read them, with the calls that they rest on."""
    lines = []
    for instance, group in groupby(refused, key=lambda one: one.instance):
        lines.append(f"  {instance}")
        for one in group:
            lines.append(f"    {one.reason}")
            lines += [
                f"      {call.client}#{call.number} [{call.invoked}, {call.completed}]"
                f" {call.asked} -> {call.told}"
                for call in one.calls
            ]
    return "\n".join(lines)
