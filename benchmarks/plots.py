"""The figures of a run as plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, NullLocator

from . import bytes_stored, growth
from .ordinary import ORDINARY
from .ours import OURS
from .plain import PLAIN
from .results import Figure, Results, number
from .together import PROCESSES, THREADS
from .waits import LONGEST, THROUGHPUT

_COLOURS = {OURS: "#0072b2", PLAIN: "#d55e00", ORDINARY: "#7a7a7a"}
_LINES = {"full": "-", "normal": "--"}
_MARKS = {"win": "o", "lose": "s"}
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "resolution-ledger",  # the same figures make the same file
    "svg.fonttype": "none",  # text stays text, and the file small
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#e4e4e4",
    "figure.facecolor": "white",  # an island of its own also on a dark page
    "legend.frameon": False,
    "legend.fontsize": 9,
}
_EMPTY_AT = 100
"""Where an empty ledger stands on an axis that has no zero."""
_WIDE, _NARROW = (10.0, 4.6), (7.0, 3.6)


def draw(results: Results, folder: Path, kind: str = "svg") -> None:
    """Draw all plots whose figures were measured."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in (THREADS, PROCESSES):
        if _series(results, part, THROUGHPUT):
            with _plot(folder / f"{part}.{kind}", _WIDE, 2) as (left, right):
                _crowds(results, part, left, right)
    sizes = [part for part in (growth.INSTANCES, growth.ATTEMPTS) if _series(results, part, "lose")]
    if sizes:
        with _plot(folder / f"growth.{kind}", _WIDE, len(sizes)) as panels:
            for part, axes in zip(sizes, panels, strict=True):
                _growth(results, part, axes)
    if bytes_stored.stored(bytes_stored.WINS, OURS) in results:
        with _plot(folder / f"bytes.{kind}", _NARROW, 1) as (axes,):
            _bytes(results, axes)


@contextmanager
def _plot(path: Path, size: tuple[float, float], panels: int) -> Iterator[Sequence[Axes]]:
    with mpl.rc_context(_STYLE):
        drawing = Drawing(figsize=size, layout="constrained")
        all_axes = drawing.subplots(1, panels, squeeze=False)[0]
        yield all_axes
        lines = {
            label: line
            for axes in all_axes
            for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        drawing.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=3)
        drawing.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=100)


def _series(results: Results, part: str, what: str) -> dict[tuple[str, str], list[Figure]]:
    """The figures of a part by contender and durability, each over the sizes."""
    series: dict[tuple[str, str], list[Figure]] = {}
    for figure in results:
        if (figure.part, figure.what) == (part, what):
            series.setdefault((figure.contender, figure.durability), []).append(figure)
    return {key: sorted(figures, key=lambda figure: figure.size) for key, figures in series.items()}


def _crowds(results: Results, part: str, left: Axes, right: Axes) -> None:
    for axes, what in ((left, THROUGHPUT), (right, LONGEST)):
        for (contender, durability), figures in _series(results, part, what).items():
            axes.plot(
                [figure.size for figure in figures],
                [results.median(figure) for figure in figures],
                _LINES[durability],
                color=_COLOURS[contender],
                marker="o",
                markersize=4,
                label=f"{contender}, {durability} durability",
            )
        axes.set_xscale("log", base=2)
        axes.set_xlabel(f"{part} that win at the same time")
        sizes = sorted({figure.size for figure in results if figure.part == part})
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.xaxis.set_minor_locator(NullLocator())
    left.set_ylabel("wins a second, all together")
    left.yaxis.set_major_formatter(FuncFormatter(_plainly))
    left.set_ylim(bottom=0)
    right.set_ylabel("longest wait for one call, ms (log)")
    _log(right)
    right.yaxis.set_major_formatter(FuncFormatter(_plainly))


def _growth(results: Results, part: str, axes: Axes) -> None:
    for operation, mark in _MARKS.items():
        for (contender, durability), figures in _series(results, part, operation).items():
            axes.plot(
                [figure.size or _EMPTY_AT for figure in figures],
                [results.median(figure) for figure in figures],
                _LINES[durability],
                color=_COLOURS[contender],
                marker=mark,
                markersize=4,
                fillstyle="full" if operation == "win" else "none",
                label=f"{contender}: {operation}, {durability} durability",
            )
    sizes = sorted({figure.size for figure in results if figure.part == part})
    axes.set_xscale("log")
    axes.set_xticks([size or _EMPTY_AT for size in sizes], [_short(size) for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(part)
    if part == growth.INSTANCES:
        axes.set_ylabel("µs a call")
        axes.set_ylim(bottom=0)
    else:
        axes.set_ylabel("µs a call (log)")
        _log(axes)
    axes.yaxis.set_major_formatter(FuncFormatter(_plainly))


def _bytes(results: Results, axes: Axes) -> None:
    whats = (bytes_stored.WINS, bytes_stored.MIX)
    for place, contender in enumerate((OURS, PLAIN, ORDINARY)):
        heights = [results.median(bytes_stored.stored(what, contender)) for what in whats]
        bars = axes.bar(
            [index + (place - 1) * 0.27 for index in range(len(whats))],
            heights,
            0.25,
            color=_COLOURS[contender],
            label=contender,
        )
        axes.bar_label(bars, [number(height) for height in heights], padding=2, fontsize=9)
    axes.set_xticks(range(len(whats)), whats)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel("bytes in the file for each attempt")
    axes.margins(y=0.1)


def _log(axes: Axes) -> None:
    """From one power of ten to another, so that at least two of them are labelled."""
    axes.set_yscale("log")
    least, greatest = axes.dataLim.intervaly
    axes.set_ylim(10 ** floor(log10(least)), 10 ** ceil(log10(greatest)))


def _plainly(value: float, _position: int | None = None) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _short(size: int) -> str:
    """As it fits below an axis."""
    if not size:
        return "empty"
    for unit, letter in ((1_000_000, " M"), (1_000, "k")):
        if size >= unit:
            return f"{size // unit}{letter}"
    return str(size)
