"""What a run has measured: figures, each with a value for every repeat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import floor, inf, log10
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from .measurements import Durability


class Figure(NamedTuple):
    """One thing that is measured once in each repeat."""

    part: str
    what: str
    unit: str
    contender: str
    durability: Durability
    size: int = 0
    """How many threads, processes, instances or attempts. 0 where nothing is counted."""


class Spread(NamedTuple):
    """A number over the repeats."""

    median: float
    least: float
    greatest: float

    def __str__(self) -> str:
        return f"{number(self.median)} ({number(self.least)}..{number(self.greatest)})"


def number(value: float) -> str:
    """With three digits that say something, or all that stand before the point."""
    if not value or value == inf:
        return f"{value:.0f}"
    return f"{value:,.{max(0, 2 - floor(log10(abs(value))))}f}"


class Results:
    """Figures and their values, in the order in which they were first measured."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self._values: dict[Figure, list[float]] = {}

    def add(self, figure: Figure, value: float) -> None:
        """The figure's value in one more repeat."""
        self._values.setdefault(figure, []).append(value)

    def __iter__(self) -> Iterator[Figure]:
        return iter(self._values)

    def __contains__(self, figure: object) -> bool:
        return figure in self._values

    @property
    def repeats(self) -> int:
        """How often the figures were measured, at most."""
        return max(map(len, self._values.values()), default=0)

    def median(self, figure: Figure) -> float:
        """The figure's median over the repeats."""
        return median(self._values[figure])

    def spread(self, numerator: Figure, denominator: Figure) -> Spread:
        """The ratio of two figures within each repeat, over all of them."""
        ratios = [
            above / below if below else inf
            for above, below in zip(self._values[numerator], self._values[denominator], strict=True)
        ]
        return Spread(median(ratios), min(ratios), max(ratios))

    def as_json(self) -> dict[str, Any]:
        """All of it, for ``read``."""
        return {
            "environment": self.environment,
            "figures": [
                {**figure._asdict(), "values": values} for figure, values in self._values.items()
            ],
        }

    @classmethod
    def read(cls, path: Path) -> Results:
        """What an earlier run has written."""
        written = json.loads(path.read_text())
        results = cls(written["environment"])
        for fields in written["figures"]:
            values = fields.pop("values")
            results._values[Figure(**fields)] = values
        return results
