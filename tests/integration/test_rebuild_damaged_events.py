"""An event that cannot be read stops a rebuild: nobody knows what it demands."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inside import OpenLedger, Unguarded, all_rows
from integration.rebuilders import READ_MODELS, empty, fill, open_admin
from integration.tampering import Specimen, make_ledger
from resolution_ledger import CorruptLedger, UnknownEvent, Won
from samples import record

NEXT_VERSION = "state = CAST(x'9602' || substr(state, 3) AS BLOB)"

DAMAGED_EVENTS = {
    "a loser's bytes": (3, "state = x'00'", CorruptLedger),
    "a winner's bytes": (2, "state = x'00'", CorruptLedger),
    "text for bytes": (3, "state = 'bytes'", CorruptLedger),
    "an unknown version": (3, NEXT_VERSION, UnknownEvent),
    "an unknown version of a win": (2, NEXT_VERSION, UnknownEvent),
    "an unknown tag": (3, "topic = 'annulled'", UnknownEvent),
    "an unknown tag of a win": (2, "topic = 'annulled'", UnknownEvent),
    "a win after the first position": (3, "topic = 'won'", CorruptLedger),
    "a loser at the first position": (2, "topic = 'lost'", CorruptLedger),
    "a stream that is no id": (3, "originator_id = 'stream'", CorruptLedger),
    "a stream in capitals": (4, "originator_id = upper(originator_id)", CorruptLedger),
    "a stream that is no text": (3, "originator_id = x'ff'", CorruptLedger),
    "a stream that is no UTF-8": (3, "originator_id = CAST(x'ff' AS TEXT)", CorruptLedger),
    "a win's stream that is no UTF-8": (2, "originator_id = CAST(x'ff' AS TEXT)", CorruptLedger),
    "a win at another position": (2, "originator_version = 7", CorruptLedger),
    "a win before all positions": (2, "originator_version = 0", CorruptLedger),
    "a position that is no number": (3, "originator_version = 'last'", CorruptLedger),
}


@pytest.mark.parametrize("tables", ["whole", "emptied"])
@pytest.mark.parametrize("case", DAMAGED_EVENTS.values(), ids=DAMAGED_EVENTS)
def test_a_damaged_event_is_named_and_nothing_is_invented_for_it(
    unguarded: Unguarded, path: Path, tables: str, case: tuple[int, str, type[CorruptLedger]]
) -> None:
    """Nor is a row taken away: nobody knows that it is wrong."""
    (_, connection), (sequence, damage, error) = unguarded, case
    connection.text_factory = bytes
    right = all_rows(connection)
    connection.execute(f"UPDATE resolution_events SET {damage} WHERE sequence = {sequence}")  # noqa: S608
    if tables == "emptied":
        empty(path)
    before = all_rows(connection)
    with open_admin(path) as admin:
        for _ in range(2):
            with pytest.raises(error) as caught:
                admin.rebuild()
            assert caught.value.sequence == sequence
            assert type(caught.value) is error
    after = all_rows(connection)
    assert after["resolution_events"] == before["resolution_events"]
    for table in READ_MODELS:
        assert set(before[table]) <= set(after[table]) <= set(right[table])


OF_A_WITHDRAWAL = "state = CAST(x'9502' || substr(state, 3) AS BLOB)"

DAMAGED_CLOSINGS = {
    "a closing's bytes": (5, "state = x'00'", CorruptLedger),
    "text for a closing's bytes": (5, "state = 'bytes'", CorruptLedger),
    "an unknown version of a closing": (5, OF_A_WITHDRAWAL, UnknownEvent),
    "an unknown reason": (5, "state = CAST(replace(state, 'ex', 'in') AS BLOB)", CorruptLedger),
    "a closing with an attempt's bytes": (7, "topic = 'closed'", CorruptLedger),
    "a closing at another position": (5, "originator_version = 70", CorruptLedger),
    "a closing after the first position": (9, "topic = 'closed'", CorruptLedger),
    "a closing's stream that is no id": (5, "originator_id = 'stream'", CorruptLedger),
    "a closing's stream, no UTF-8": (5, "originator_id = CAST(x'ff' AS TEXT)", CorruptLedger),
    "a withdrawal at the first position": (5, "topic = 'withdrawal-lost'", CorruptLedger),
    "a late attempt at the first position": (7, "topic = 'late'", CorruptLedger),
    "a late attempt's bytes": (6, "state = x'00'", CorruptLedger),
    "a fenced withdrawal's bytes": (8, "state = x'00'", CorruptLedger),
    "a lost withdrawal's bytes": (9, "state = x'00'", CorruptLedger),
    "a late withdrawal's bytes": (10, OF_A_WITHDRAWAL, UnknownEvent),
}


@pytest.fixture(scope="module")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """A ledger in which an instance was closed, and everything that can follow has."""
    path = tmp_path_factory.mktemp("closed") / "ledger.db"
    make_ledger(path, 16)
    with Specimen(path) as specimen:
        yield specimen


@pytest.mark.parametrize("tables", ["whole", "emptied"])
@pytest.mark.parametrize("case", DAMAGED_CLOSINGS.values(), ids=DAMAGED_CLOSINGS)
def test_so_it_is_with_closings_and_what_comes_after_them(
    specimen: Specimen,
    tables: str,
    case: tuple[int, str, type[CorruptLedger]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They too may demand a row, or that there is none."""
    sequence, damage, error = case
    specimen.damage(f"UPDATE resolution_events SET {damage} WHERE sequence = {sequence}")  # noqa: S608
    monkeypatch.setattr(specimen.connection, "text_factory", bytes)
    if tables == "emptied":
        for table in READ_MODELS:
            specimen.connection.execute(f"DELETE FROM {table}")  # noqa: S608
    before = all_rows(specimen.connection)
    for _ in range(2):
        with pytest.raises(error) as caught:
            specimen.admin.rebuild()
        assert caught.value.sequence == sequence
        assert type(caught.value) is error
    after = all_rows(specimen.connection)
    assert after["resolution_events"] == before["resolution_events"]
    for table in READ_MODELS:
        right = set(specimen.connection.execute(f"SELECT * FROM sound_{table}"))  # noqa: S608
        assert set(before[table]) <= set(after[table]) <= right


def test_what_can_be_rebuilt_before_a_damaged_event_may_be(
    path: Path, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    """It stops there; the ledger goes on being used."""
    fill(path, range(1100))
    connection = foreign()
    right = all_rows(connection)
    connection.execute("DROP TRIGGER resolution_events_refuse_update")
    connection.execute("UPDATE resolution_events SET state = x'00' WHERE sequence = 2000")
    empty(path)
    with open_admin(path) as admin, pytest.raises(CorruptLedger) as error:
        admin.rebuild()
    assert error.value.sequence == 2000
    after = all_rows(connection)
    for table in READ_MODELS:
        assert set(after[table]) <= set(right[table])
    assert open_ledger().resolve(record(5000, 1, 1)) == Won()
