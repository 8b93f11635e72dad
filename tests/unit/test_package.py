"""The package as it is built and laid out."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import resolution_ledger

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


def test_importing_the_package_loads_neither_an_event_store_nor_a_command_line() -> None:
    code = (
        "import sys, resolution_ledger;"
        "print(*{'eventsourcing', 'click', 'rich', 'cbor2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_inside_the_package_imports_are_relative() -> None:
    for module in (ROOT / "src").rglob("*.py"):
        text = module.read_text()
        assert "from resolution_ledger" not in text, module
        assert "import resolution_ledger" not in text, module
