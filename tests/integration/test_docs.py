"""Every command and snippet in the documentation runs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from torture.nemeses.names import EVERY

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]

# What sets the project up is not run from inside its own tests. These are the tests for it.
RUN_BY_CI = ("make demo", "make test")
# These take too long for a test. Their parts are measured by test_benchmarks.py, and run by
# test_torture.py and test_power_cut.py.
LONG_RUNS = ("make bench", "make bench-large", "make bench-short", "make torture")
RUN_BY_MAKE = re.compile(r"python3 -m venv \.venv$|(\w+=\w+ )?\.venv/bin/")


def commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def run_in_a_shell(example: Example) -> None:
    lines = commands(str(example.parsed))
    if all(line in RUN_BY_CI + LONG_RUNS or RUN_BY_MAKE.match(line) for line in lines):
        return
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("RESOLUTION_")
    }
    scripts = str(Path(sys.executable).parent)
    environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
    with TemporaryDirectory() as folder:
        subprocess.run(
            ["bash", "-euo", "pipefail", "-c", str(example.parsed)],
            cwd=folder,
            env=environment,
            check=True,
        )


PARSERS = [PythonCodeBlockParser(), CodeBlockParser("bash", run_in_a_shell)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_snippet_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in Document.parse(str(page), *PARSERS).examples():
        example.evaluate()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_the_project_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


NAMED_TEST = re.compile(r"`(tests/[a-z0-9_/]+\.py)(?:::(\w+))?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    for file, name in NAMED_TEST.findall(page.read_text()):
        functions = {
            node.name
            for node in ast.parse((ROOT / file).read_text()).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert any(known.startswith("test_") for known in functions), file
        assert not name or name in functions, f"{file}::{name}"


def test_options_of_torture_that_its_page_gives_are_there() -> None:
    """The commands themselves take too long for a test."""
    page = (ROOT / "docs" / "torture.md").read_text()
    given = re.findall(r"^\.venv/bin/python -m (torture\S*) (.*)$", page, flags=re.MULTILINE)
    assert {module for module, _ in given} == {"torture", "torture.power"}
    for module, arguments in given:
        told = subprocess.run(
            [sys.executable, "-m", module, "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert set(re.findall(r"--[a-z-]+", arguments)) <= {*re.findall(r"--[a-z-]+", told.stdout)}


def test_the_page_on_torture_has_each_nemesis() -> None:
    page = (ROOT / "docs" / "torture.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    named = re.findall(r"`([^`]+)`", "".join(row.split("|")[1] for row in rows))
    assert sorted(named) == sorted(EVERY)


def test_the_page_on_security_names_a_test_for_whatever_somebody_can_or_cannot_do() -> None:
    """By its name, not by its file alone."""
    text = (ROOT / "SECURITY.md").read_text()
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[2:-1]
    assert len(parts) == 8
    for part in parts:
        named = NAMED_TEST.findall(part)
        assert named, part
        assert all(name for _, name in named), named


def test_ci_runs_the_commands_that_the_readme_gives() -> None:
    script = commands((ROOT / ".ci" / "run").read_text())
    assert [line for line in script if line in RUN_BY_CI] == list(RUN_BY_CI)
    readme = (ROOT / "README.md").read_text()
    for command in RUN_BY_CI:
        assert f"```bash\n{command}\n```" in readme


def test_the_pip_equivalents_are_what_make_runs() -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", "demo", "test"],
        cwd=ROOT,
        # What an outer make was told is not for this one.
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        | {"PYTHON": "python3"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    given = [line for line in commands((ROOT / "README.md").read_text()) if RUN_BY_MAKE.match(line)]
    assert len(given) == 4
    for command in given:
        assert command in planned
