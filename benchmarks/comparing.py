"""Two runs beside each other, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator

from .results import Results, number


def changes(old: Results, new: Results) -> Iterator[str]:
    """For each figure that both have: the old median, the new one, and new / old."""
    yield f"{'figure':<76}{'old':>12}{'new':>12}{'new / old':>12}"
    for figure in new:
        if figure in old:
            before, after = old.median(figure), new.median(figure)
            size = f" {figure.size:,}" if figure.size else ""
            name = (
                f"{figure.part}{size}, {figure.durability}: {figure.contender},"
                f" {figure.what} ({figure.unit})"
            )
            quotient = number(after / before) if before else "-"
            yield f"{name:<76}{number(before):>12}{number(after):>12}{quotient:>12}"
