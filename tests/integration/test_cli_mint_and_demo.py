"""What needs no ledger on the command line: minting ids, and the demonstration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration.shells import Shell
from samples import instance


@pytest.fixture
def shell(tmp_path: Path, path: Path) -> Shell:
    return Shell(tmp_path, path)


def test_mint_takes_a_record_from_the_argument_or_from_standard_input(shell: Shell) -> None:
    text = '{"question": 1}'
    assert shell.run("mint", text).stdout == f"{instance(1)}\n"
    assert shell.run("mint", stdin=text.encode()).stdout == f"{instance(1)}\n"
    assert shell.run("mint", "-", stdin=text.encode()).stdout == f"{instance(1)}\n"
    assert shell.json("mint", text) == [{"id": str(instance(1))}]


def test_mint_reads_a_link_as_dag_json_writes_it(shell: Shell) -> None:
    linked = shell.run("mint", json.dumps({"of": {"/": str(instance(1))}})).stdout
    text = shell.run("mint", json.dumps({"of": str(instance(1))})).stdout
    assert linked != text


def test_minting_from_a_closed_standard_input_is_a_usage_error(shell: Shell) -> None:
    assert shell.script("ledger mint <&-").returncode == 2


def test_the_demonstration_checks_itself(shell: Shell) -> None:
    *questions, totals = shell.json("demo", "--instances", "5", "--web", "2")
    assert totals["faults"] == []
    assert sum(totals["wins"].values()) == len(questions) == 5
    for question in questions:
        surfaces = {question["winner"], *(loser["by"] for loser in question["losers"])}
        assert surfaces == {"terminal", "web-1", "web-2"}
        assert all(loser["milliseconds"] >= 0 for loser in question["losers"])
