"""The ledger for event loops has the same methods, which give and raise the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contract.answers import everything
from integration.loops import open_async, run
from processes import PATIENCE
from resolution_ledger import (
    AsyncResolutionLedger,
    InvalidOption,
    InvalidText,
    ResolutionLedger,
)
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record

Call = Callable[[Any], Any]

CALLS: dict[str, Call] = {
    "create": lambda ledger: ledger.create(),
    "resolve": lambda ledger: ledger.resolve(record(2, 1, 1, "tty")),
    "resolve again": lambda ledger: ledger.resolve(record(1, 1, 1)),
    "lose": lambda ledger: ledger.resolve(record(1, 3, 3)),
    "conflict": lambda ledger: ledger.resolve(record(1, 5, 1)),
    "be fenced": lambda ledger: ledger.resolve(record(8, 1, 1)),
    "withdraw": lambda ledger: ledger.withdraw(instance(3), "expired", submitted_by="cron"),
    "withdraw too late": lambda ledger: ledger.withdraw(instance(1), "withdrawn"),
    "withdraw another's": lambda ledger: ledger.withdraw(instance(8), "withdrawn"),
    "wait for an answer": lambda ledger: ledger.wait(instance(1)),
    "wait for a closing": lambda ledger: ledger.wait(instance(4), timeout=PATIENCE),
    "wait in vain": lambda ledger: ledger.wait(instance(6), 0.01),
    "look": lambda ledger: ledger.wait(instance(6), 0),
    "wait for another's": lambda ledger: ledger.wait(instance(8)),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "no winner": lambda ledger: ledger.winner(instance(8)),
    "history": lambda ledger: ledger.history(instance(1)),
    "losers": lambda ledger: ledger.losers(),
    "one loser": lambda ledger: ledger.losers(limit=1),
    "resolve text": lambda ledger: ledger.resolve("text"),
    "winner of text": lambda ledger: ledger.winner("text"),
    "wait for text": lambda ledger: ledger.wait("text"),
    "wait badly": lambda ledger: ledger.wait(instance(1), -1),
    "withdraw badly": lambda ledger: ledger.withdraw(instance(1), "bored"),
    "no losers": lambda ledger: ledger.losers(0),
}

METHODS = sorted(
    name
    for name, member in inspect.getmembers(ResolutionLedger)
    if not name.startswith("_") and callable(member)
)


@pytest.mark.parametrize("name", METHODS)
def test_each_method_has_its_twin_with_the_same_parameters(name: str) -> None:
    sync, twin = getattr(ResolutionLedger, name), getattr(AsyncResolutionLedger, name)
    assert inspect.signature(twin).parameters == inspect.signature(sync).parameters
    assert inspect.iscoroutinefunction(twin) == (name not in {"open", "watch"})


def test_there_is_no_method_without_a_twin() -> None:
    public = {name for name in dir(AsyncResolutionLedger) if not name.startswith("_")}
    assert public == {name for name in dir(ResolutionLedger) if not name.startswith("_")}
    assert set(METHODS) >= {"close", "create", "open", "resolve", "wait", "watch", "withdraw"}


def prepare(path: Path) -> None:
    """Instance 1 is won and lost, 4 closed, 8 another workspace's."""
    with ResolutionLedger.open(path, workspace=WORKSPACE, clock=lambda: 0) as ledger:
        ledger.resolve(record(1, 1, 1))
        ledger.resolve(record(1, 2, 2))
        ledger.withdraw(instance(4), "withdrawn")
    with ResolutionLedger.open(path, workspace=OTHER_WORKSPACE, clock=lambda: 0) as other:
        other.resolve(record(8, 8, 8))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_each_call_gives_and_raises_what_its_twin_does(tmp_path: Path, call: Call) -> None:
    paths = tmp_path / "sync.db", tmp_path / "async.db"
    for path in paths:
        prepare(path)
    with ResolutionLedger.open(paths[0], workspace=WORKSPACE, clock=lambda: 0) as ledger:
        expected = _told(lambda: call(ledger))
        recorded = everything([ledger])

    async def ask() -> object:
        async with open_async(paths[1], clock=lambda: 0) as twin:
            assert twin.workspace == WORKSPACE
            return await call(twin)

    assert _told(lambda: run(ask())) == expected
    with ResolutionLedger.open(paths[1], workspace=WORKSPACE) as ledger:
        assert everything([ledger]) == recorded


def _told(call: Callable[[], object]) -> object:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 (whatever it is, both are to raise it)
        return type(error), {key: str(value) for key, value in vars(error).items()}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"workspace": ""}, InvalidText),
        ({"durability": "none"}, InvalidOption),
        ({"lock_timeout": -1}, InvalidOption),
        ({"clock": 1}, InvalidOption),
    ],
)
def test_bad_options_are_refused_at_once(
    path: Path, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        AsyncResolutionLedger.open(path, **{"workspace": WORKSPACE, **options})
