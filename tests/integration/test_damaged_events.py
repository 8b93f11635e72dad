"""Damaged events: they are named, never skipped, and no answer is made up from them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from inside import Unguarded
from resolution_ledger import (
    CorruptLedger,
    Lost,
    ResolutionLedger,
    ResolutionRecord,
    UnknownEvent,
)
from samples import WORKSPACE, instance, key, record, response

Call = Callable[[ResolutionLedger], object]

CALLS: dict[str, Call] = {
    "resolve": lambda ledger: ledger.resolve(record(1, 5, 5)),
    "resolve again": lambda ledger: ledger.resolve(record(1, 1, 1)),
    "winner": lambda ledger: ledger.winner(instance(1)),
    "history": lambda ledger: ledger.history(instance(1)),
}

each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.fixture
def unguarded(unguarded: Unguarded) -> Unguarded:
    """As elsewhere, with an empty table of winners: so ``winner``, too, looks into the log."""
    _, connection = unguarded
    connection.execute("DELETE FROM interaction_resolutions")
    return unguarded


def state(*values: object) -> bytes:
    """Bytes as an event has them, of whatever is in it."""
    return msgspec.msgpack.encode(values)


GOOD = (1, response(1).text, WORKSPACE, key(1).text, "", 0)


def with_field(place: int, value: object) -> bytes:
    """The bytes of the winning event with one field changed."""
    return state(*GOOD[:place], value, *GOOD[place + 1 :])


BAD_STATES: dict[str, object] = {
    "empty": b"",
    "garbage": b"\xc1",
    "text": "text",
    "a number": 5,
    "cut off": state(*GOOD)[:-1],
    "with more behind": state(*GOOD) + b"\x00",
    "a field too many": state(*GOOD, 0),
    "a field too few": state(*GOOD[:5]),
    "a map": msgspec.msgpack.encode({"version": 1}),
    "upper-case response": with_field(1, response(1).text.upper()),
    "no id": with_field(1, "bafyr4i"),
    "empty workspace": with_field(2, ""),
    "empty key": with_field(3, ""),
    "key with NUL": with_field(3, "a\0"),
    "label too long": with_field(4, "x" * 513),
    "tick beyond 64 bits": with_field(5, 2**63),
    "tick as text": with_field(5, "0"),
    "tick in a longer encoding": state(*GOOD)[:-1] + b"\xcc\x00",
    "not UTF-8": state(*GOOD).replace(b"key-1", b"key-\xff"),
}


@each_call
def test_bytes_that_the_ledger_would_have_written_are_not(unguarded: Unguarded, call: Call) -> None:
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_events SET state = ? WHERE sequence = 2", (state(*GOOD),))
    call(ledger)


FORGED_WINS = [
    "UPDATE resolution_events SET topic = ? WHERE sequence = 3",
    """UPDATE resolution_events SET topic = ?, fingerprint =
           (SELECT fingerprint FROM resolution_events WHERE sequence = 4) WHERE sequence = 3""",
]


@pytest.mark.parametrize("forgery", FORGED_WINS)
@pytest.mark.parametrize("tag", ["won", "adopted"])
def test_a_second_win_is_corrupt_wherever_it_is_seen(
    unguarded: Unguarded, tag: str, forgery: str
) -> None:
    ledger, connection = unguarded
    connection.execute(forgery, (tag,))
    answers = []
    for attempt in (record(1, 2, 2), record(1, 3, 3)):
        try:
            answers.append(ledger.resolve(attempt))
        except CorruptLedger as error:
            answers.append(error.sequence)
    assert 3 in answers
    assert set(answers) <= {3, Lost(response(1))}
    with pytest.raises(CorruptLedger) as error:
        ledger.history(instance(1))
    assert error.value.sequence == 3


@each_call
@pytest.mark.parametrize("bad", BAD_STATES.values(), ids=BAD_STATES)
def test_bytes_that_the_ledger_would_not_have_written_are_corrupt_and_the_event_is_named(
    unguarded: Unguarded, bad: object, call: Call
) -> None:
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_events SET state = ? WHERE sequence = 2", (bad,))
    with pytest.raises(CorruptLedger) as error:
        call(ledger)
    assert error.value.sequence == 2
    assert ledger.winner(instance(0)) == response(1)


@each_call
@pytest.mark.parametrize(
    ("tag", "version", "values"),
    [
        ("annulled", 1, GOOD),
        ("WON", 1, GOOD),
        ("", 1, GOOD),
        ("won", 2, (2, *GOOD[1:])),
        ("won", 0, (0, *GOOD[1:])),
        ("won", 7, (7, "fields", "of the future")),
        ("annulled", 7, (7,)),
    ],
)
def test_an_event_of_an_unknown_kind_is_never_skipped(
    unguarded: Unguarded, tag: str, version: int, values: tuple[object, ...], call: Call
) -> None:
    ledger, connection = unguarded
    connection.execute(
        "UPDATE resolution_events SET topic = ?, state = ? WHERE sequence = 2",
        (tag, state(*values)),
    )
    with pytest.raises(UnknownEvent) as error:
        call(ledger)
    assert (error.value.sequence, error.value.tag, error.value.version) == (2, tag, version)


def test_an_unknown_event_further_on_stops_history_but_not_the_winner(
    unguarded: Unguarded,
) -> None:
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_events SET topic = 'annulled' WHERE sequence = 4")
    with pytest.raises(UnknownEvent) as error:
        ledger.history(instance(1))
    assert error.value.sequence == 4
    with pytest.raises(UnknownEvent):
        ledger.resolve(record(1, 3, 3))
    assert ledger.winner(instance(1)) == response(1)


@pytest.mark.parametrize("call", [CALLS["resolve"], CALLS["resolve again"], CALLS["winner"]])
@pytest.mark.parametrize("tag", ["lost", "replayed", "conflicted", "fenced"])
def test_position_1_that_has_not_won_is_corrupt(unguarded: Unguarded, tag: str, call: Call) -> None:
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_events SET topic = ? WHERE sequence = 2", (tag,))
    with pytest.raises(CorruptLedger) as error:
        call(ledger)
    assert error.value.sequence == 2


POSITION_1_GONE = {
    "deleted": "DELETE FROM resolution_events WHERE sequence = 2",
    "moved on": "UPDATE resolution_events SET originator_version = 9 WHERE sequence = 2",
    "moved to 0": "UPDATE resolution_events SET originator_version = 0 WHERE sequence = 2",
    "moved to text": "UPDATE resolution_events SET originator_version = 'one' WHERE sequence = 2",
}

each_loss = pytest.mark.parametrize("damage", POSITION_1_GONE.values(), ids=POSITION_1_GONE)


@each_loss
@pytest.mark.parametrize(
    "attempt",
    [record(1, 5, 5), record(1, 1, 1), record(1, 2, 2)],
    ids=["a new one", "the winner's", "a loser's"],
)
def test_where_position_1_is_gone_nobody_wins_a_second_time(
    unguarded: Unguarded, damage: str, attempt: ResolutionRecord
) -> None:
    ledger, connection = unguarded
    connection.execute(damage)
    connection.execute("DELETE FROM interaction_resolutions")
    with pytest.raises(CorruptLedger):
        ledger.resolve(attempt)


@each_loss
def test_where_position_1_is_gone_winner_does_not_say_that_nobody_has_won(
    unguarded: Unguarded, damage: str
) -> None:
    ledger, connection = unguarded
    connection.execute(damage)
    with pytest.raises(CorruptLedger):
        ledger.winner(instance(1))


def test_a_later_position_that_is_no_number_is_corrupt(unguarded: Unguarded) -> None:
    ledger, connection = unguarded
    connection.execute("UPDATE resolution_events SET originator_version = 'x' WHERE sequence = 3")
    with pytest.raises(CorruptLedger):
        ledger.resolve(record(1, 2, 2))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE resolution_events SET sequence = ? WHERE sequence = 4",
        "UPDATE resolution_events SET originator_version = ? WHERE sequence = 4",
    ],
    ids=["sequence", "position"],
)
def test_a_log_whose_numbers_are_used_up_is_corrupt(unguarded: Unguarded, change: str) -> None:
    ledger, connection = unguarded
    connection.execute(change, (2**63 - 1,))
    with pytest.raises(CorruptLedger):
        ledger.resolve(record(1, 5, 5))
