"""The figures and the targets as tables for people."""

from __future__ import annotations

from collections.abc import Iterator

from .ordinary import ORDINARY
from .ours import OURS
from .plain import PLAIN
from .results import Figure, Results, number
from .targets import TARGETS, Target
from .unchained import UNCHAINED

LEGEND = f"""
{OURS:<10}ResolutionLedger
{PLAIN:<10}a compare-and-swap of one row on sqlite3, with nothing else on record
{ORDINARY:<10}the same rules on the eventsourcing package's own aggregate and recorder
{UNCHAINED:<10}ResolutionLedger without its hash chain

win       the first attempt on a fresh instance
lose      another response under another key
replay    the winning submission, sent again
winner    asking who has won
"""
_CONTENDERS = (OURS, PLAIN, ORDINARY, UNCHAINED)
_WHAT, _SIZE, _VALUE = 32, 9, 12
_NAME, _WANTED, _RATIO = 70, 26, 24


def lines(results: Results) -> Iterator[str]:
    """The whole report, line by line."""
    yield ", ".join(f"{name} {value}" for name, value in results.environment.items())
    yield LEGEND
    yield f"Medians of {results.repeats} repeats; one thread: of batches, and on average."
    yield from _figures(results)
    yield ""
    heading = "Targets, as ratios within one repeat"
    yield f"{heading:<{_NAME + _WANTED}}{'median (range)':>{_RATIO}}"
    for target, ratio, verdict in verdicts(results):
        yield f"{target.name:<{_NAME}}{target.wanted:<{_WANTED}}{ratio:>{_RATIO}}  {verdict}"


def verdicts(results: Results) -> Iterator[tuple[Target, str, str]]:
    """For each target that was measured: itself, the ratio, and whether it holds."""
    for target in TARGETS:
        if target.measured_in(results):
            ratio = results.spread(target.numerator, target.denominator)
            yield target, str(ratio), "holds" if target.holds(ratio.median) else "MISSED"


def _figures(results: Results) -> Iterator[str]:
    """A row for each thing that was measured, with a column for each contender."""
    rows: dict[Figure, dict[str, Figure]] = {}
    for figure in results:
        rows.setdefault(figure._replace(contender=""), {})[figure.contender] = figure
    part = durability = ""
    for row, by_contender in rows.items():
        if (row.part, row.durability) != (part, durability):
            part, durability = row.part, row.durability
            yield ""
            names = "".join(f"{name:>{_VALUE}}" for name in (*_CONTENDERS, "ours/plain"))
            yield f"{f'{part}, {durability}':<{_WHAT + _SIZE}}{names}"
        yield _row(results, row, by_contender)


def _row(results: Results, row: Figure, by_contender: dict[str, Figure]) -> str:
    cells = [
        number(results.median(by_contender[name])) if name in by_contender else "-"
        for name in _CONTENDERS
    ]
    ratio = "-"
    if OURS in by_contender and PLAIN in by_contender:
        ratio = number(results.spread(by_contender[OURS], by_contender[PLAIN]).median)
    size = f"{row.size:,}" if row.size else ""
    values = "".join(f"{cell:>{_VALUE}}" for cell in (*cells, ratio))
    return f"{f'{row.what}, {row.unit}':<{_WHAT}}{size:>{_SIZE}}{values}"
