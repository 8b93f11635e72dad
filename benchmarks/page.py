"""The generated part of ``docs/performance.md``, and its plots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .plots import draw
from .results import Results
from .tables import verdicts

_BEGIN, _END = "<!-- begin: written by `python -m benchmarks --docs` -->\n", "<!-- end -->\n"


def refresh(results: Results, docs: Path) -> None:
    """Put these results in the place of those that the page shows."""
    page = docs / "performance.md"
    between = re.compile(f"(?<={re.escape(_BEGIN)}).*(?={re.escape(_END)})", re.DOTALL)
    written = "".join(f"{line}\n" for line in _table(results))
    text, found = between.subn(lambda _: written, page.read_text())
    if not found:
        raise ValueError(f"{page} has no place for the figures")
    page.write_text(text)
    draw(results, docs / "performance")


def _table(results: Results) -> Iterator[str]:
    environment = ", ".join(f"{name} {value}" for name, value in results.environment.items())
    yield f"{environment}; medians of {results.repeats} repeats, and their range."
    yield ""
    yield "| ratio | bound (aim) | measured | |"
    yield "|---|---|---|---|"
    for target, ratio, verdict in verdicts(results):
        yield f"| {target.name} | {target.wanted} | {ratio} | {verdict} |"
