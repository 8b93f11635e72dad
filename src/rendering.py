"""What the command line prints: lines and tables for people, JSON lines for machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec

from .domain.errors import IdempotencyConflict, OutsideWorkspace, ResolutionError
from .domain.outcomes import Lost, Replayed, Won
from .domain.records import RecordedAttempt

if TYPE_CHECKING:
    from .demo import Race

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

    console = Console(highlight=False)
    if not console.is_terminal:
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
