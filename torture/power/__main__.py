"""Cut the power everywhere, and tell what came of it: ``python -m torture.power``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from .cutting import run
from .recording import CannotRecord
from .scenarios import every
from .states import Thoroughness

_MOST_AT_NORMAL = 8


def main() -> int:
    """0 if nothing is wrong."""
    parser = argparse.ArgumentParser(prog="python -m torture.power", description=__doc__)
    parser.add_argument("--commits", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--garbage", action="store_true", help="torn sectors may hold anything")
    parser.add_argument("--only", metavar="SCENARIO", help="its name, or the beginning of it")
    parser.add_argument("--report", type=Path, metavar="FILE", help="the totals, as JSON")
    options = parser.parse_args()
    every_total = []
    for scenario in every(options.commits, options.seed):
        if options.only and not scenario.name.startswith(options.only):
            continue
        try:
            # Without syncs much more is pending at each cut, and some of it has to do.
            most = 1000 if scenario.script.durability == "full" else _MOST_AT_NORMAL
            totals = run(scenario, Thoroughness(most=most, garbage=options.garbage))
        except CannotRecord as error:
            print(error, file=sys.stderr)
            return 2
        every_total.append(totals)
        print(
            f"{totals.scenario}: {totals.acknowledged} acknowledged, {totals.writes} writes,"
            f" {totals.syncs} syncs, {totals.copies} of them of the database,"
            f" {totals.states} states, {totals.losses} of which lack"
            f" up to {totals.most_lost} acknowledged answers, {totals.faults} faults,"
            f" {totals.seconds} s",
            flush=True,
        )
        for problem in totals.problems:
            print(f"  {problem}", flush=True)
    if options.report:
        options.report.write_bytes(msgspec.json.format(msgspec.json.encode(every_total)) + b"\n")
    return int(any(totals.faults for totals in every_total))


if __name__ == "__main__":
    sys.exit(main())
