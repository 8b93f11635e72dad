"""The ledger for event loops and the other one have the same methods and properties."""

from __future__ import annotations

import inspect

import pytest

from resolution_ledger import AsyncResolutionLedger, ResolutionLedger

PUBLIC = sorted(name for name in dir(ResolutionLedger) if not name.startswith("_"))

METHODS = [name for name in PUBLIC if callable(getattr(ResolutionLedger, name))]

NOT_AWAITED = {"open", "watch"}
"""The one opens nothing yet, and what the other returns is awaited."""


def test_both_have_the_same_public_names() -> None:
    assert sorted(name for name in dir(AsyncResolutionLedger) if not name.startswith("_")) == PUBLIC
    assert {*METHODS} > {"close", "create", "resolve", "wait", "withdraw", *NOT_AWAITED}


@pytest.mark.parametrize("name", METHODS)
def test_each_method_has_the_same_parameters(name: str) -> None:
    sync, twin = getattr(ResolutionLedger, name), getattr(AsyncResolutionLedger, name)
    assert inspect.signature(twin).parameters == inspect.signature(sync).parameters
    assert inspect.iscoroutinefunction(twin) == (name not in NOT_AWAITED)


@pytest.mark.parametrize("name", sorted({*PUBLIC} - {*METHODS}))
def test_what_is_a_property_of_one_is_a_property_of_the_other(name: str) -> None:
    assert isinstance(getattr(ResolutionLedger, name), property)
    assert isinstance(getattr(AsyncResolutionLedger, name), property)
