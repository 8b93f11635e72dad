"""The tools of a forger of exports."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

from integration.exports import Export, changed, number_of, rehashed, renumbered, state_of

Forge = Callable[[Export], Export]

EXPIRED, WITHDRAWN = b"\xa7expired", b"\xa9withdrawn"
"""The reasons, as a state has them."""


def at(number: int, **fields: object) -> Forge:
    """One line has other values, and nothing else is changed."""
    return lambda export: [
        *export[:number],
        changed(export[number], **fields),
        *export[number + 1 :],
    ]


def written(number: int, old: bytes, new: bytes) -> Forge:
    """One line is written in another way."""

    def forge(export: Export) -> Export:
        assert old in export[number], "nothing was changed"
        return [*export[:number], export[number].replace(old, new, 1), *export[number + 1 :]]

    return forge


def saying(number: int, old: bytes, new: bytes) -> Forge:
    """One event says something else."""

    def forge(export: Export) -> Export:
        state = state_of(export[number])
        assert old in state, "nothing was changed"
        return at(number, state=b64encode(state.replace(old, new)).decode())(export)

    return forge


def first(of: str, **fields: object) -> Forge:
    """The first event of a tag has other values."""
    return lambda export: at(number_of(export, tag=of), **fields)(export)


def last_won(**fields: object) -> Forge:
    """The last win has other values."""

    def forge(export: Export) -> Export:
        won = max(n for n, line in enumerate(export) if b'"tag":"won"' in line)
        return at(won, **fields)(export)

    return forge


def then_hashed(forge: Forge) -> Forge:
    """And every hash fits again."""
    return lambda export: rehashed(forge(export))


def one_more(tag: str, **fields: object) -> Forge:
    """The first of a tag once more, with other values in some of its fields."""

    def forge(export: Export) -> Export:
        again = changed(export[number_of(export, tag=tag)], **fields)
        return renumbered([*export[:50], again, *export[50:]])

    return forge
