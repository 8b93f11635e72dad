"""The package as it is built and laid out."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import resolution_ledger
from resolution_ledger import Closed, Withdrawn

ROOT = Path(__file__).resolve().parents[2]


def test_every_folder_with_code_is_in_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(project["tool"]["setuptools"]["packages"])
    found = {
        ".".join(["resolution_ledger", *module.parent.relative_to(ROOT / "src").parts])
        for module in (ROOT / "src").rglob("*.py")
    }
    assert listed == found


def test_imports_run_one_way() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_what_is_public_is_there_and_sorted() -> None:
    names = resolution_ledger.__all__
    assert names == sorted(names)
    assert all(hasattr(resolution_ledger, name) for name in names)


def test_what_closing_a_question_needs_is_public() -> None:
    """To be told apart by whoever calls ``withdraw`` or ``resolve``."""
    assert {"AsyncResolutionLedger", "Closed", "Withdrawn"} <= set(resolution_ledger.__all__)
    assert Closed("expired") == Closed(reason="expired") != Closed("withdrawn")
    assert Withdrawn() == Withdrawn()


def printed(code: str) -> list[str]:
    """The words that a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_loads_neither_an_event_store_nor_a_command_line() -> None:
    code = (
        "import sys, resolution_ledger;"
        "print(*{'eventsourcing', 'click', 'rich', 'cbor2', 'asyncio'} & set(sys.modules))"
    )
    assert printed(code) == []


def test_asyncio_is_loaded_for_whoever_names_what_needs_it() -> None:
    """However it is named; it is the same each time."""
    code = (
        "import sys, resolution_ledger as package; before = 'asyncio' in sys.modules;"
        "from resolution_ledger import AsyncResolutionLedger;"
        "print(before, 'asyncio' in sys.modules, package.AsyncResolutionLedger"
        " is AsyncResolutionLedger)"
    )
    assert printed(code) == ["False", "True", "True"]


def test_all_that_is_public_comes_with_a_star() -> None:
    """What is loaded late as well."""
    code = (
        "from resolution_ledger import *; import resolution_ledger;"
        "print(*set(resolution_ledger.__all__) - set(globals()))"
    )
    assert printed(code) == []


def test_a_name_that_is_not_there_is_missing_as_from_any_module() -> None:
    """Nothing is made up for it."""
    with pytest.raises(AttributeError, match="has no attribute 'AsyncResolution'"):
        _ = resolution_ledger.AsyncResolution


def test_inside_the_package_imports_are_relative() -> None:
    for module in (ROOT / "src").rglob("*.py"):
        text = module.read_text()
        assert "from resolution_ledger" not in text, module
        assert "import resolution_ledger" not in text, module
