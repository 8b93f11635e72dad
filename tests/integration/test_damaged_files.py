"""Damaged files: whatever the database makes of them, its own errors reach nobody."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from inside import OpenLedger
from resolution_ledger import ResolutionError, ResolutionLedger, Won
from samples import instance, record

Call = Callable[[ResolutionLedger], object]

CALLS: list[Call] = [
    lambda ledger: ledger.resolve(record(1, 500, 500)),
    lambda ledger: ledger.resolve(record(1, 0, 0)),
    lambda ledger: ledger.winner(instance(1)),
    lambda ledger: ledger.history(instance(1)),
    lambda ledger: ledger.losers(),
]


@pytest.fixture
def content(path: Path, open_ledger: OpenLedger) -> bytearray:
    """The bytes of a ledger of many pages."""
    with open_ledger() as ledger:
        for n in range(100):
            ledger.resolve(record(1, n, n, "x" * 200))
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("seed", range(60))
def test_garbage_in_the_file_is_never_an_error_of_the_database(
    tmp_path: Path, content: bytearray, open_ledger: OpenLedger, seed: int
) -> None:
    draw = Random(seed)  # noqa: S311 (a reproducible draw, no secret)
    for _ in range(draw.choice([1, 3, 50])):
        start, length = draw.randrange(len(content)), draw.choice([1, 16, 4096])
        content[start : start + length] = draw.randbytes(length)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(content)
    ledger = open_ledger(damaged)
    for call in [*CALLS, *CALLS]:
        with suppress(ResolutionError):
            call(ledger)


def test_garbage_in_the_definition_of_a_table_is_never_an_error_of_python(
    tmp_path: Path, content: bytearray, open_ledger: OpenLedger
) -> None:
    damaged = tmp_path / "damaged.db"
    # SQLite quotes the name in its complaint, which Python then cannot decode.
    damaged.write_bytes(
        content.replace(b"losing_attempts", b"losing_attemp\xff\xfe").replace(
            b"position INTEGER NOT", b"position INTEGER ,,("
        )
    )
    for call in CALLS:
        with pytest.raises(ResolutionError):
            call(open_ledger(damaged))


def test_a_truncated_file_names_no_second_winner(
    tmp_path: Path, content: bytearray, open_ledger: OpenLedger
) -> None:
    for number, length in enumerate(range(100, len(content), 4096)):
        damaged = tmp_path / f"{number}.db"
        damaged.write_bytes(content[:length])
        ledger = open_ledger(damaged)
        for call in CALLS:
            with suppress(ResolutionError):
                assert call(ledger) not in {Won(), None}
