"""What the command line prints: lines and tables for people, JSON lines for machines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec

from .domain.errors import IdempotencyConflict, OutsideWorkspace, ResolutionError
from .domain.outcomes import Lost, Replayed, Won
from .domain.records import WINNING, RecordedAttempt
from .projections.report import Finding

if TYPE_CHECKING:
    from .demo import Race
    from .infra.trail import Contest

_WIDTH_WITHOUT_TERMINAL = 1000


def answer(text: str | None, fields: Mapping[str, object], *, as_json: bool) -> None:
    """One answer: ``text`` for people (None: nothing to print), ``fields`` for machines."""
    if as_json:
        click.echo(msgspec.json.encode(fields))
    elif text is not None:
        click.echo(text)


def outcome(value: Won | Lost | Replayed | ResolutionError, *, as_json: bool) -> None:
    """The answer to an attempt."""
    match value:
        case Won():
            answer("won", {"outcome": "won"}, as_json=as_json)
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


def attempts(recorded: Iterable[RecordedAttempt], *, as_json: bool) -> None:
    """Attempts, one a line."""
    if as_json:
        for attempt in recorded:
            click.echo(msgspec.json.encode(attempt_fields(attempt)))
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
                str(attempt.response),
                str(attempt.idempotency_key),
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
    _line(
        f"{attempt.sequence:>8}",
        moment(attempt.tick),
        f"{attempt.outcome:<10}",
        attempt.workspace,
        f"{attempt.instance}/{attempt.position}",
        str(attempt.response),
        str(attempt.idempotency_key),
        attempt.submitted_by,
    )


def timeline_line(attempt: RecordedAttempt, behind: int, *, as_json: bool) -> None:
    """An attempt in the timeline of its instance: ``behind`` is nanoseconds after the winner."""
    if as_json:
        click.echo(msgspec.json.encode({**attempt_fields(attempt), "behind": behind}))
        return
    late = "" if attempt.outcome in WINNING else f"{behind / 1e6:+.3f} ms"
    _line(
        f"{attempt.instance} {attempt.position:>3}",
        moment(attempt.tick),
        f"{attempt.outcome:<10}",
        f"{late:>14}",
        str(attempt.response),
        attempt.submitted_by or attempt.workspace,
    )


def contests(found: Iterable[Contest], *, as_json: bool) -> None:
    """Contested instances, one a line."""
    if as_json:
        for contest in found:
            winner = contest.winner
            fields = {
                "instance": str(winner.instance),
                "winner": str(winner.response),
                "answers": contest.answers,
                "attempts": contest.attempts,
                "margin": contest.margin,
            }
            click.echo(msgspec.json.encode(fields))
        return
    table(
        ("instance", "winner", "answers", "other attempts", "nearest, by milliseconds"),
        (
            (
                str(contest.winner.instance),
                str(contest.winner.response),
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
        fields = {
            field: value if value is None or isinstance(value, int) else encodable(value)
            for field, value in msgspec.structs.asdict(found).items()
        }
        click.echo(msgspec.json.encode(fields))
        return
    place = " ".join(str(part) for part in (found.sequence, found.instance) if part is not None)
    click.echo(printable(f"{found.kind} {place}: expected {found.expected}, found {found.found}"))


def encodable(text: str) -> str:
    """``text`` with escapes for what UTF-8 cannot hold: damaged text comes as surrogates."""
    return text.encode(errors="backslashreplace").decode()


def _line(*cells: str) -> None:
    click.echo(printable("  ".join(cells).rstrip()))


def attempt_fields(attempt: RecordedAttempt) -> dict[str, object]:
    """An attempt as a JSON object: the fields of ``RecordedAttempt``, ids as text."""
    return {
        "sequence": attempt.sequence,
        "position": attempt.position,
        "instance": str(attempt.instance),
        "outcome": attempt.outcome,
        "response": str(attempt.response),
        "idempotency_key": str(attempt.idempotency_key),
        "submitted_by": attempt.submitted_by,
        "workspace": attempt.workspace,
        "tick": attempt.tick,
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


def table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """A table for people. The texts in it may be a stranger's."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout is not None and sys.stdout.isatty()  # whatever the environment says
    console = Console(highlight=False, force_terminal=terminal)
    if not terminal:
        console.width = _WIDTH_WITHOUT_TERMINAL  # a pipe has no width: never cut an id
    grid = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for column in grid.columns:
        column.overflow = "fold"
    for row in rows:
        grid.add_row(*(Text(printable(cell)) for cell in row))
    console.print(grid)


def printable(text: str) -> str:
    """``text`` with escapes for whatever could move the cursor or turn the writing around."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def moment(tick: int) -> str:
    """A tick as people write it, to the millisecond; the number itself if no calendar has it."""
    seconds, nanoseconds = divmod(tick, 1_000_000_000)
    try:
        date = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return str(tick)
    return f"{date:%Y-%m-%d %H:%M:%S}.{nanoseconds // 1_000_000:03}"
