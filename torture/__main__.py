"""``python -m torture``: attacks the ledger, and fails if anything did not hold."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from secrets import randbits

from . import races
from .nemeses.names import EVERY
from .report import Report, reasons
from .rounds import Outcome


def main() -> int:
    """Run what is asked for, print it, write the report; 1 if anything failed."""
    options = _options()
    extent = races.Extent(options.rounds, options.races, options.duration)
    first = 0
    if options.round is not None:
        first, extent = options.round, races.Extent(rounds=1)
    elif extent == races.Extent():
        extent = races.Extent(races=10_000)
    print(f"seed {options.seed}", flush=True)
    if options.dir is not None:
        os.makedirs(options.dir, exist_ok=True)
    report = races.run(
        options.seed,
        extent,
        first=first,
        only=options.only,
        directory=options.dir,
        plant=options.plant,
        until_failure=options.until_failure,
        tell=_tell,
    )
    if options.report is not None:
        report.write(options.report)
    _print(report)
    silent = report.never_struck() if report.rounds >= _ENOUGH and not options.only else []
    if silent:
        print(f"never struck, which is a fault of the harness: {', '.join(silent)}")
    return 0 if report.clean and not silent else 1


_ENOUGH = 100
"""Rounds in which every nemesis has had its chance."""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=randbits(32), help="all choices come from it")
    parser.add_argument("--round", type=int, help="only this one, as in an earlier run")
    parser.add_argument("--rounds", type=int, help="so many")
    parser.add_argument("--races", type=int, help="contested instances; 10,000 by default")
    parser.add_argument("--duration", type=float, help="seconds")
    parser.add_argument("--only", type=_nemeses, default=(), help=f"of: {', '.join(EVERY)}")
    parser.add_argument("--dir", help="where ledgers are made")
    parser.add_argument("--plant", help="module:function, called first in each client: a bug")
    parser.add_argument("--until-failure", action="store_true", help="one is enough")
    parser.add_argument("--report", type=Path, help="a file for the totals, as JSON")
    return parser.parse_args()


def _nemeses(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in EVERY:
            raise argparse.ArgumentTypeError(f"there is no nemesis {name!r}")
    return names


def _tell(outcome: Outcome) -> None:
    plan = outcome.plan
    print(
        f"round {plan.number}: {plan.instances} races, {len(plan.clients)} processes,"
        f" {sum(outcome.told.values())} calls, {outcome.kills} killed,"
        f" {outcome.seconds:.1f} s; {', '.join(plan.nemeses)}:"
        f" {'all held' if outcome.clean else 'FAILED'}",
        flush=True,
    )
    if not outcome.clean:
        print(f"  {plan.command}")
        print(f"  kept in {outcome.directory}")
        print(reasons(outcome), flush=True)


def _print(report: Report) -> None:
    print(
        f"{report.rounds} rounds, {report.races} races, {sum(report.calls.values())} calls,"
        f" {report.kills} killed, {report.seconds:.0f} s"
    )
    for name, count in sorted(report.calls.items()):
        print(f"  {name}: {count}")
    for name, count in report.struck.items():
        if count == 0 and name not in report.skipped:
            continue
        print(f"  {name}: {report.skipped.get(name) or f'struck {count} times'}")
    print(
        f"refused histories: {report.refused_histories};"
        f" not borne out by the log: {report.missing_or_contradicted};"
        f" findings of verify: {report.differing_read_models}; other faults: {report.faults}"
    )


if __name__ == "__main__":
    sys.exit(main())
