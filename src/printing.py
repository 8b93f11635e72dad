"""How text reaches a terminal or a pipe: answers, lines and tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import click
import msgspec

_WIDTH_WITHOUT_TERMINAL = 1000


def answer(text: str | None, fields: Mapping[str, object], *, as_json: bool) -> None:
    """One answer: ``text`` for people (None: nothing to print), ``fields`` for machines."""
    if as_json:
        click.echo(msgspec.json.encode(fields))
    elif text is not None:
        click.echo(text)


def line(*cells: str) -> None:
    """Cells on a line, for people. The texts in it may be a stranger's."""
    click.echo(printable("  ".join(cells).rstrip()))


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


def encodable(text: str) -> str:
    """``text`` with escapes for what UTF-8 cannot hold: damaged text comes as surrogates."""
    return text.encode(errors="backslashreplace").decode()


def fields_of(told: msgspec.Struct) -> dict[str, object]:
    """Its fields as a JSON object. The texts in it may be damaged."""
    return {
        field: encodable(value) if isinstance(value, str) else value
        for field, value in msgspec.structs.asdict(told).items()
    }
