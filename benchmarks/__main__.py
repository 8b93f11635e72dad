"""Measure, and print what came out. The exit status says nothing about the targets."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .comparison import compare
from .crowd import measure_crowd
from .measurements import DURABILITIES, Measurements
from .report import as_json, lines


class Size(NamedTuple):
    """How much one repeat measures."""

    rounds: int
    """Batches of each operation, contender and durability."""
    batch: int
    """Calls in each of them."""
    crowd_batches: int
    crowd_batch: int


FULL, QUICK = Size(150, 10, 60, 5), Size(30, 10, 20, 5)


def measure(size: Size, directory: str | None) -> Measurements:
    """One repeat, on files of its own."""
    measurements = Measurements()
    for durability in DURABILITIES:
        with TemporaryDirectory(dir=directory) as fresh:
            gc.collect()  # what earlier repeats left is not for this one to clear away
            compare(Path(fresh), durability, size.rounds, size.batch, measurements)
    with TemporaryDirectory(dir=directory) as fresh:
        gc.collect()
        measure_crowd(Path(fresh), size.crowd_batches, size.crowd_batch, measurements)
    return measurements


def main() -> None:
    """``python -m benchmarks``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run, to see that it works")
    parser.add_argument("--repeat", type=int, metavar="N", help="repeats (5; 2 if quick)")
    parser.add_argument("--dir", metavar="DIR", help="where the files go, on the disk to measure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here, too")
    options = parser.parse_args()
    repeat = (2 if options.quick else 5) if options.repeat is None else options.repeat
    if repeat < 1:
        parser.error("--repeat takes a positive number")

    repeats = []
    for number in range(1, repeat + 1):
        print(f"repeat {number} of {repeat}", file=sys.stderr)
        repeats.append(measure(QUICK if options.quick else FULL, options.dir))
    for line in lines(repeats):
        print(line)
    if options.json:
        options.json.write_text(json.dumps(as_json(repeats), indent=2) + "\n")


if __name__ == "__main__":
    main()
