"""Where a run leaves what it makes. Git ignores it, and ``make clean`` removes it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "build" / "benchmarks"
