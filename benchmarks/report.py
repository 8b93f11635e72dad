"""The measurements as tables for people, and as one object for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from .comparison import CONTENDERS, OPERATIONS
from .crowd import LOSE_AFTER_FEW, LOSE_AFTER_MANY
from .environment import environment
from .measurements import DURABILITIES, Durability, Measurements, Series
from .ordinary import ORDINARY
from .ours import OURS
from .plain import PLAIN
from .targets import TARGETS, Target, spread
from .unchained import UNCHAINED

Repeats = Sequence[Measurements]

_LEGEND = f"""
{OURS:<10}ResolutionLedger
{PLAIN:<10}a compare-and-swap of one row on sqlite3, with nothing else on record
{ORDINARY:<10}the same rules on the eventsourcing package's own aggregate and recorder
{UNCHAINED:<10}ResolutionLedger without its hash chain

win       the first attempt on a fresh instance
lose      another response under another key, where only the win is on record
replay    the winning submission, sent again
winner    asking who has won
"""
_WIDTHS = (18, 18, 18, 18, 22, 22)


def lines(repeats: Repeats) -> Iterator[str]:
    """The whole report, line by line."""
    yield ", ".join(f"{name} {value}" for name, value in environment().items())
    yield _LEGEND
    yield "Times: microseconds a call, in the median batch, and in brackets on average."
    yield f"Ratios: of medians; the median of {len(repeats)} repeats, and in brackets their range."
    for durability in DURABILITIES:
        yield ""
        yield _row([durability, *CONTENDERS, f"{OURS} / {PLAIN}", f"{OURS} / {ORDINARY}"])
        for operation in (*OPERATIONS, LOSE_AFTER_FEW, LOSE_AFTER_MANY):
            yield _row(_operation(repeats, durability, operation))
    yield ""
    yield "Targets:"
    for target in TARGETS:
        ratio = spread(repeats, target.numerator, target.denominator)
        verdict = "holds" if ratio.median <= target.bound else "MISSED"
        yield f"  {target!s:<56}{ratio!s:>20}  {verdict}"


def as_json(repeats: Repeats) -> dict[str, object]:
    """The same, with the times of every repeat."""
    return {
        "environment": environment(),
        "unit": "microseconds a call",
        "series": [
            {
                **series._asdict(),
                "medians": [repeat.median(series) for repeat in repeats],
                "means": [repeat.mean(series) for repeat in repeats],
            }
            for series in repeats[0].series()
        ],
        "targets": [_target(repeats, target) for target in TARGETS],
    }


def _operation(repeats: Repeats, durability: Durability, operation: str) -> Iterator[str]:
    """The cells of one row. Not every contender was asked to do everything."""
    measured = repeats[0].series()
    ours = Series(durability, operation, OURS)
    yield operation
    for contender in CONTENDERS:
        series = ours._replace(contender=contender)
        yield _time(repeats, series) if series in measured else "-"
    for contender in (PLAIN, ORDINARY):
        series = ours._replace(contender=contender)
        yield str(spread(repeats, ours, series)) if series in measured else "-"


def _time(repeats: Repeats, series: Series) -> str:
    ordinarily = median(repeat.median(series) for repeat in repeats)
    on_average = median(repeat.mean(series) for repeat in repeats)
    return f"{ordinarily:.1f} {f'({on_average:.1f})':>8}"


def _row(cells: Sequence[str] | Iterator[str]) -> str:
    first, *others = cells
    widths = _WIDTHS[1:]
    return f"{first:<{_WIDTHS[0]}}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(others, widths, strict=True)
    )


def _target(repeats: Repeats, target: Target) -> dict[str, object]:
    ratio = spread(repeats, target.numerator, target.denominator)
    return {
        "target": str(target),
        "bound": target.bound,
        **ratio._asdict(),
        "holds": ratio.median <= target.bound,
    }
