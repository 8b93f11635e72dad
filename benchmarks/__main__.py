"""Measure, and print what came out. The exit status says nothing about the targets."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from .comparing import changes
from .environment import environment
from .files import FILES, ROOT
from .parts import PARTS
from .plan import Plan, full, large, quick
from .results import Results
from .tables import lines


def measure(plan: Plan, names: Sequence[str], repeats: int) -> Results:
    """Prepare the parts, and measure all of them in each repeat."""
    results = Results(environment())
    with ExitStack() as stack:
        measures = []
        for name in names:
            print(f"preparing {name}", file=sys.stderr)
            measures.append((name, stack.enter_context(PARTS[name](plan))))
        for repeat in range(1, repeats + 1):
            for name, part in measures:
                print(f"repeat {repeat} of {repeats}: {name}", file=sys.stderr)
                part(results)
    return results


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run, to see that it works")
    parser.add_argument(
        "--large", action="store_true", help="ten million instances, with --only instances"
    )
    parser.add_argument("--repeat", type=int, metavar="N", help="repeats (5; 1 if quick)")
    parser.add_argument(
        "--only", metavar="PART,...", default=",".join(PARTS), help="some of: %(default)s"
    )
    parser.add_argument(
        "--dir", type=Path, metavar="DIR", default=FILES, help="a folder on the disk to measure"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="where the results go (in build/benchmarks)"
    )
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw plots (needs matplotlib)")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="the results of another run")
    parser.add_argument(
        "--read", type=Path, metavar="FILE", help="measure nothing: take the results of a run"
    )
    parser.add_argument(
        "--docs", action="store_true", help="bring docs/performance.md and its plots up to date"
    )
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if options.repeat is None:
        options.repeat = 1 if options.quick else 5
    if options.repeat < 1:
        parser.error("--repeat takes a positive number")
    return options


def main() -> None:
    """``python -m benchmarks``."""
    options = parse()
    old = Results.read(options.compare) if options.compare else None

    if options.read:
        results = Results.read(options.read)
    else:
        options.dir.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=options.dir) as scratch:
            plan = (large if options.large else quick if options.quick else full)(
                Path(scratch), FILES / "ledgers"
            )
            results = measure(plan, options.only, options.repeat)
        _write(results, options.json or FILES / "results.json")

    for line in lines(results):
        print(line)
    if old:
        print()
        for line in changes(old, results):
            print(line)
    if options.docs:
        from .page import refresh

        refresh(results, ROOT / "docs")
        _write(results, ROOT / "docs" / "performance" / "results.json")
    if options.plots:
        from .plots import draw

        draw(results, options.plots)


def _write(results: Results, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results.as_json(), indent=1) + "\n")
    print(f"results are in {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
