"""Each event on record vouches for all before it, whoever put it there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from eventsourcing.persistence import IntegrityError, OperationalError, StoredEvent

from answers import answer, everything
from contract.backends import OpenLedger
from contract.behind import hashes, unbroken
from contract.draws import some_submissions
from inside import database_of
from resolution_ledger import ResolutionLedger
from resolution_ledger.infra.sqlite.recorder import LedgerDatastore, LedgerRecorder
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record


@pytest.fixture
def recorder(ledger: ResolutionLedger) -> LedgerRecorder:
    """A recorder of the ``eventsourcing`` package on the ledger, in which nothing is yet."""
    recorder = LedgerRecorder(LedgerDatastore(database_of(ledger)))
    recorder.create_table()
    return recorder


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_sent_the_chain_goes_through_all_that_is_on_record(
    open_ledger: OpenLedger, seed: int
) -> None:
    """From the identity of the ledger to its newest event."""
    doors = {name: open_ledger(workspace=name) for name in (WORKSPACE, OTHER_WORKSPACE)}
    for workspace, sent in some_submissions(seed, 1000, 30):
        answer(doors[workspace], sent)
    on_record = everything(doors.values(), range(30))
    assert {attempt.outcome for attempt in on_record} >= {"won", "lost", "conflicted", "fenced"}
    assert {attempt.outcome for attempt in on_record} >= {"closed", "late", "withdrawal-lost"}
    assert unbroken(doors[WORKSPACE]) == len(on_record) > 100


def test_two_ledgers_that_hold_the_same_events_share_no_hash(
    new_ledger: Callable[[], OpenLedger],
) -> None:
    """An event of one is never taken for an event of the other."""
    one, other = (new_ledger()(clock=lambda: 0) for _ in range(2))
    for ledger in (one, other):
        for n in range(5):
            ledger.resolve(record(1, n, n))
    assert one.history(instance(1)) == other.history(instance(1))
    assert len({*hashes(one), *hashes(other)}) == 10


def test_a_retransmission_adds_nothing_to_the_chain(ledger: ResolutionLedger) -> None:
    """Not even a hash."""
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    ledger.withdraw(instance(2), "expired")
    before = hashes(ledger)
    ledger.resolve(record(1, 1, 1))
    ledger.resolve(record(1, 2, 2))
    ledger.withdraw(instance(2), "expired")
    assert hashes(ledger) == before


EVENTS_OF_OTHERS = [
    StoredEvent("a", 1, "topic", b"state"),
    StoredEvent("a", 2, "", b""),
    StoredEvent("", 1, "\u65e5\u672c", bytes(1000)),
    StoredEvent("\u00e9", -(2**63), "topic", b"\xff"),
    StoredEvent("\u00e9", 0, "topic", b"\0"),
    StoredEvent("\u00e9", 2**63 - 1, "topic", b"topic"),
]


def test_events_of_others_are_in_the_chain_as_well(
    ledger: ResolutionLedger, recorder: LedgerRecorder
) -> None:
    """One that is inserted alone, many together, and none."""
    assert recorder.insert_events(EVENTS_OF_OTHERS[:1]) == [1]
    assert recorder.insert_events([]) == []
    assert recorder.insert_events(EVENTS_OF_OTHERS[1:]) == [2, 3, 4, 5, 6]
    assert unbroken(ledger) == len(hashes(ledger)) == 6


def test_resolve_withdraw_and_others_continue_one_chain(
    ledger: ResolutionLedger, recorder: LedgerRecorder
) -> None:
    """Whoever comes next follows whoever came before."""
    ledger.resolve(record(1, 1, 1))
    recorder.insert_events(EVENTS_OF_OTHERS[:2])
    ledger.resolve(record(1, 2, 2))
    recorder.insert_events(EVENTS_OF_OTHERS[2:3])
    ledger.withdraw(instance(2), "expired")
    assert unbroken(ledger) == len(hashes(ledger)) == 6


def test_what_was_taken_back_leaves_no_gap_in_the_chain(
    ledger: ResolutionLedger, recorder: LedgerRecorder
) -> None:
    """The next event follows what is on record, and nothing that was to be."""
    taken = EVENTS_OF_OTHERS[0]
    recorder.insert_events([taken])
    with pytest.raises(IntegrityError):
        recorder.insert_events([EVENTS_OF_OTHERS[1], taken])
    with pytest.raises(OperationalError):
        recorder.insert_events([EVENTS_OF_OTHERS[1], StoredEvent("a", 2**63, "topic", b"")])
    ledger.resolve(record(1, 1, 1))
    recorder.insert_events(EVENTS_OF_OTHERS[1:2])
    assert unbroken(ledger) == len(hashes(ledger)) == 3
