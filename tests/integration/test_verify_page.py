"""The tables of ``docs/verify.md`` name what the code knows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from resolution_ledger.projections.report import FindingKind

PAGE = (Path(__file__).parents[2] / "docs" / "verify.md").read_text()


def test_the_page_explains_every_kind_of_finding_once_and_in_order() -> None:
    _, _, after = PAGE.partition("| kind | what is wrong |\n|---|---|\n")
    table, _, _ = after.partition("\n\n")
    kinds = re.findall(r"^\| `([^`]+)` \| .+ \|$", table, re.MULTILINE)
    assert len(kinds) == len(table.splitlines())
    assert tuple(kinds) == get_args(FindingKind)
