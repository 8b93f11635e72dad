"""What the command line prints: lines and tables for people, JSON lines for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
import msgspec

from .domain.errors import IdempotencyConflict, OutsideWorkspace, ResolutionError
from .domain.ids import ResponseId
from .domain.outcomes import Closed, Lost, Replayed, Withdrawn, Won
from .domain.records import FIRST, RecordedAttempt
from .printing import answer, fields_of, line, moment, printable, table
from .projections.report import Finding

if TYPE_CHECKING:
    from .demo import Race
    from .infra.health import Examination
    from .infra.trail import Contest

Reply = Won | Lost | Replayed | Withdrawn | Closed | ResolutionError
"""The answer to an attempt or a withdrawal, refusals included."""

_OUTCOME_WIDTH = 10
"""Letters, in columns: what withdrawals come to is longer, and rare."""


def outcome(value: Reply, *, as_json: bool) -> None:
    """The answer to an attempt or a withdrawal."""
    match value:
        case Won():
            answer("won", {"outcome": "won"}, as_json=as_json)
        case Withdrawn():
            answer("withdrawn", {"outcome": "withdrawn"}, as_json=as_json)
        case Closed(reason=reason):
            fields = {"outcome": "closed", "reason": reason}
            answer(f"closed: {reason}", fields, as_json=as_json)
        case Lost(winner=winner):
            answer(f"lost to {winner}", {"outcome": "lost", "winner": str(winner)}, as_json=as_json)
        case Replayed(winner=winner, own=own):
            how = "by this very submission" if own else "by another submission"
            answer(
                f"replayed: {winner} has won already, {how}",
                {"outcome": "replayed", "winner": str(winner), "own": own},
                as_json=as_json,
            )
        case IdempotencyConflict(key=key, existing=existing, presented=presented):
            answer(
                f"conflicted: {printable(str(value))}",
                {
                    "outcome": "conflicted",
                    "key": str(key),
                    "existing": str(existing),
                    "presented": str(presented),
                },
                as_json=as_json,
            )
        case OutsideWorkspace():
            answer("fenced: not of this workspace", {"outcome": "fenced"}, as_json=as_json)


def settled(value: ResponseId | Closed | None, *, as_json: bool) -> None:
    """What somebody who waited learns."""
    match value:
        case None:
            answer("timed out", {"outcome": "timed out"}, as_json=as_json)
        case Closed():
            outcome(value, as_json=as_json)
        case winner:
            # Not "won": that is said to the one who acts on it.
            fields = {"outcome": "resolved", "winner": str(winner)}
            answer(str(winner), fields, as_json=as_json)


def attempts(recorded: Iterable[RecordedAttempt], *, as_json: bool) -> None:
    """Attempts, one a line."""
    if as_json:
        for attempt in recorded:
            attempt_line(attempt, as_json=True)
        return
    table(
        ("sequence", "position", "time (UTC)", "outcome", "instance", "response", "key", "by"),
        (
            (
                str(attempt.sequence),
                str(attempt.position),
                moment(attempt.tick),
                attempt.outcome,
                str(attempt.instance),
                _what(attempt),
                str(attempt.idempotency_key or ""),
                attempt.submitted_by,
            )
            for attempt in recorded
        ),
    )


def attempt_line(attempt: RecordedAttempt, *, as_json: bool) -> None:
    """An attempt on a line of its own, for logs that are long or have no end."""
    if as_json:
        click.echo(msgspec.json.encode(attempt_fields(attempt)))
        return
    line(
        f"{attempt.sequence:>8}",
        moment(attempt.tick),
        f"{attempt.outcome:<{_OUTCOME_WIDTH}}",
        attempt.workspace,
        f"{attempt.instance}/{attempt.position}",
        _what(attempt),
        str(attempt.idempotency_key or "-"),
        attempt.submitted_by,
    )


def timeline_line(attempt: RecordedAttempt, behind: int, *, as_json: bool) -> None:
    """An attempt in its instance's timeline: ``behind`` is nanoseconds after the first event."""
    if as_json:
        click.echo(msgspec.json.encode({**attempt_fields(attempt), "behind": behind}))
        return
    after = "" if attempt.outcome in FIRST else f"{behind / 1e6:+.3f} ms"
    line(
        f"{attempt.instance} {attempt.position:>3}",
        moment(attempt.tick),
        f"{attempt.outcome:<{_OUTCOME_WIDTH}}",
        f"{after:>14}",
        _what(attempt),
        attempt.submitted_by or attempt.workspace,
    )


def contests(found: Iterable[Contest], *, as_json: bool) -> None:
    """Contested instances, one a line."""
    if as_json:
        for contest in found:
            first = contest.first
            fields = {
                "instance": str(first.instance),
                "outcome": first.outcome,
                "winner": first.response and str(first.response),
                "reason": first.reason,
                "answers": contest.answers,
                "attempts": contest.attempts,
                "margin": contest.margin,
            }
            click.echo(msgspec.json.encode(fields))
        return
    table(
        (
            "instance",
            "winner, or why closed",
            "answers",
            "other attempts",
            "nearest, by milliseconds",
        ),
        (
            (
                str(contest.first.instance),
                _what(contest.first),
                str(contest.answers),
                str(contest.attempts),
                f"{contest.margin / 1e6:.3f}",
            )
            for contest in found
        ),
    )


def finding(found: Finding, *, as_json: bool) -> None:
    """Something that is wrong, on a line of its own."""
    if as_json:
        click.echo(msgspec.json.encode(fields_of(found)))
        return
    place = " ".join(str(part) for part in (found.sequence, found.instance) if part is not None)
    click.echo(printable(f"{found.kind} {place}: expected {found.expected}, found {found.found}"))


def examination(seen: Examination, *, as_json: bool) -> None:
    """What was looked at, one thing a line."""
    if as_json:
        for one in seen.observations:
            click.echo(msgspec.json.encode(fields_of(one)))
        return
    table(
        ("", "subject", "found", "advice"),
        (
            (
                "" if one.level == "fine" else one.level,
                one.subject,
                "-" if one.found is None else str(one.found),
                one.advice or "",
            )
            for one in seen.observations
        ),
    )


def _what(attempt: RecordedAttempt) -> str:
    """What was tried: an answer, or to close the instance."""
    return str(attempt.response or f"({attempt.reason})")


def attempt_fields(attempt: RecordedAttempt) -> dict[str, object]:
    """An attempt as a JSON object: the fields of ``RecordedAttempt``, ids as text."""
    return {
        "sequence": attempt.sequence,
        "position": attempt.position,
        "instance": str(attempt.instance),
        "outcome": attempt.outcome,
        "response": attempt.response and str(attempt.response),
        "idempotency_key": attempt.idempotency_key and str(attempt.idempotency_key),
        "submitted_by": attempt.submitted_by,
        "workspace": attempt.workspace,
        "tick": attempt.tick,
        "reason": attempt.reason,
    }


def race(result: Race, *, as_json: bool) -> None:
    """How the demonstration went: a line an instance, the totals, the faults."""
    if as_json:
        for question in result.questions:
            click.echo(msgspec.json.encode(question))
        click.echo(msgspec.json.encode({"wins": result.wins, "faults": result.faults}))
        return
    table(
        ("instance", "winner", "lost to it, by milliseconds"),
        (
            (
                question.instance,
                question.winner,
                "  ".join(f"{loser.by} {loser.milliseconds:.2f}" for loser in question.losers),
            )
            for question in result.questions
        ),
    )
    wins = ", ".join(f"{surface} {count}" for surface, count in result.wins.items())
    lost = sum(len(question.losers) for question in result.questions)
    click.echo(f"\n{len(result.questions)} instances, {lost} losing attempts. Wins: {wins}.")
    for fault in result.faults:
        click.echo(f"FAULT: {fault}", err=True)
    if not result.faults:
        click.echo("Checked: one winner each, everybody told the same, every attempt on record.")
