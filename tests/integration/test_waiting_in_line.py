"""Others are at the gate, or stopped there: nobody waits for longer than told, or for good."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from time import monotonic, sleep

import pytest

from inside import OpenLedger, database_of
from integration.gates import gate_of, somebody_at_the_gate, win_and_win
from integration.racing import see_that_it_is_sound
from listeners import until
from processes import PATIENCE, spawning
from resolution_ledger import Lost, Replayed, ResolutionLedger, StoreBusy, Won
from resolution_ledger.infra.sqlite import line
from samples import instance, record, response

pytest.importorskip("fcntl")

HANGING = 20.0
"""Seconds. Far beyond any timeout here, and less than what is waited for by mistake."""

LOCK_TIMEOUT = 0.2
STOPS = 12


@pytest.fixture(autouse=True)
def always_in_line(path: Path, monkeypatch: pytest.MonkeyPatch, open_ledger: OpenLedger) -> None:
    """Nobody finds the lock free. Response 1 won instance 1, response 2 lost it."""
    with open_ledger() as ledger:
        ledger.resolve(record(1, 1, 1))
        ledger.resolve(record(1, 2, 2))
    monkeypatch.setattr(line.Line, "begin_at_once", lambda *_: False)
    assert not gate_of(path).exists()


@pytest.fixture
def in_line_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is in line stays there for as long as its call waits at all."""
    monkeypatch.setattr(line, "_LONGEST", 2 * HANGING)


@pytest.mark.usefixtures("in_line_for_good")
@pytest.mark.parametrize("lock_timeout", [0, LOCK_TIMEOUT])
@pytest.mark.parametrize("locked", [False, True], ids=["the lock is free", "and at the lock"])
def test_a_call_gives_up_in_time_while_somebody_is_at_the_gate(
    path: Path,
    open_ledger: OpenLedger,
    foreign: Callable[[], sqlite3.Connection],
    lock_timeout: float,
    *,
    locked: bool,
) -> None:
    """And is not made afterwards. Where the lock is free, it is made at the last moment."""
    ledger = open_ledger(lock_timeout=lock_timeout)
    with somebody_at_the_gate(path):
        if locked:
            foreign().execute("BEGIN IMMEDIATE")
        began = monotonic()
        if locked:
            with pytest.raises(StoreBusy):
                ledger.resolve(record(2, 1, 1))
            assert ledger.history(instance(2)) == ()
        else:
            assert ledger.resolve(record(2, 1, 1)) == Won()
        assert lock_timeout <= monotonic() - began < HANGING


def test_whoever_has_come_through_and_goes_no_further_holds_nobody_up_for_long(
    path: Path, open_ledger: OpenLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "_LONGEST", LOCK_TIMEOUT)
    ledger = open_ledger(lock_timeout=PATIENCE)
    with somebody_at_the_gate(path):
        began = monotonic()
        assert ledger.resolve(record(2, 1, 1)) == Won()
        assert LOCK_TIMEOUT <= monotonic() - began < HANGING
        for n in range(3, 5):  # once is enough: nobody lines up there for a while
            assert ledger.resolve(record(n, 1, 1)) == Won()
    monkeypatch.setattr(line, "_LONGEST", PATIENCE)
    assert ledger.resolve(record(5, 1, 1)) == Won()  # there is nobody at the gate any more


@pytest.mark.usefixtures("in_line_for_good")
def test_a_call_in_line_is_made_as_soon_as_the_one_before_has_gone(
    path: Path, open_ledger: OpenLedger
) -> None:
    ledger = open_ledger(lock_timeout=PATIENCE)
    with ThreadPoolExecutor() as threads:
        with somebody_at_the_gate(path):
            call = threads.submit(ledger.resolve, record(2, 1, 1))
            with pytest.raises(TimeoutError):
                call.result(LOCK_TIMEOUT)
        assert call.result(HANGING) == Won()


@pytest.mark.usefixtures("in_line_for_good")
def test_retransmissions_and_reads_do_not_line_up(path: Path, open_ledger: OpenLedger) -> None:
    ledger = open_ledger(lock_timeout=PATIENCE)
    began = monotonic()
    with somebody_at_the_gate(path):
        assert ledger.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
        assert ledger.resolve(record(1, 2, 2)) == Lost(response(1))
        assert ledger.winner(instance(1)) == response(1)
        assert len(ledger.history(instance(1))) == 2
    assert monotonic() - began < HANGING


@pytest.mark.usefixtures("in_line_for_good")
def test_behind_a_thread_that_is_in_line_others_give_up_in_time_or_are_answered(
    path: Path, open_ledger: OpenLedger
) -> None:
    """Each as it was told itself, also where ledger objects share a connection."""
    patient, impatient = open_ledger(lock_timeout=PATIENCE), open_ledger(lock_timeout=LOCK_TIMEOUT)
    writer = database_of(patient).writer
    assert database_of(impatient).writer is writer
    with ThreadPoolExecutor() as threads:
        with somebody_at_the_gate(path):
            leading = threads.submit(patient.resolve, record(2, 1, 1))
            until(writer._turn.locked)  # noqa: SLF001 (nobody else can tell)
            began = monotonic()
            with pytest.raises(StoreBusy):
                impatient.resolve(record(3, 1, 1))
            for ledger in (patient, impatient):
                again = threads.submit(ledger.resolve, record(1, 1, 1))
                assert again.result(HANGING) == Replayed(response(1), own=True)
            assert LOCK_TIMEOUT <= monotonic() - began < HANGING
            assert not leading.done()
        assert leading.result(HANGING) == Won()
    assert patient.history(instance(3)) == ()


def test_the_lock_that_a_foreign_program_holds_is_waited_for_as_long_as_told(
    path: Path, open_ledger: OpenLedger, foreign: Callable[[], sqlite3.Connection]
) -> None:
    """At the gate by one of those who wait, and in line by the others."""
    ledgers = [open_ledger(lock_timeout=LOCK_TIMEOUT, durability=d) for d in ("full", "normal")]
    connection = foreign()
    connection.execute("BEGIN IMMEDIATE")
    began = monotonic()
    with ThreadPoolExecutor(8) as threads:
        calls = [
            threads.submit(ledger.resolve, record(n, n, n))
            for n, ledger in enumerate(ledgers * 4, start=2)
        ]
        for call in calls:
            assert isinstance(call.exception(PATIENCE), StoreBusy)
    assert LOCK_TIMEOUT <= monotonic() - began < HANGING
    connection.execute("ROLLBACK")
    assert [ledger.resolve(record(n, n, n)) for n, ledger in enumerate(ledgers, 2)] == [Won()] * 2
    assert gate_of(path).exists()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be stopped here")
def test_a_process_that_is_stopped_anywhere_makes_nobody_wait_for_longer_than_told(
    path: Path, ledger: ResolutionLedger, open_ledger: OpenLedger
) -> None:
    """Whether it holds the gate, the write lock, both or nothing."""
    draw, at_work, won = Random(0), spawning.Event(), 0  # noqa: S311 (no secret)
    process = spawning.Process(target=win_and_win, args=(str(path), 1000, at_work), daemon=True)
    process.start()
    assert process.pid is not None
    impatient = open_ledger(lock_timeout=LOCK_TIMEOUT)
    try:
        for n in range(2, 2 + STOPS):
            at_work.clear()
            assert at_work.wait(PATIENCE)
            sleep(draw.uniform(0, 0.005))
            os.kill(process.pid, signal.SIGSTOP)
            began = monotonic()
            try:
                assert impatient.resolve(record(n, 1, 1)) == Won()
                won += 1
            except StoreBusy:
                assert ledger.history(instance(n)) == ()
            assert impatient.resolve(record(1, 1, 1)) == Replayed(response(1), own=True)
            assert monotonic() - began < HANGING
            os.kill(process.pid, signal.SIGCONT)
    finally:
        process.kill()
        process.join(PATIENCE)
    written = 1000
    while ledger.winner(instance(written)) is not None:
        written += 1
    see_that_it_is_sound(path, 2 + won + written - 1000)


def test_a_call_that_fails_when_it_has_come_through_leaves_the_line_to_the_next(
    path: Path, open_ledger: OpenLedger
) -> None:
    fails = open_ledger(lock_timeout=PATIENCE, clock=lambda: 1 // 0)
    ledger = open_ledger(lock_timeout=PATIENCE)
    with ThreadPoolExecutor() as threads:
        with somebody_at_the_gate(path):
            failing = threads.submit(fails.resolve, record(2, 1, 1))
            until(database_of(ledger).writer._turn.locked)  # noqa: SLF001 (as above)
            call = threads.submit(ledger.resolve, record(3, 1, 1))
        assert isinstance(failing.exception(HANGING), ZeroDivisionError)
        assert call.result(HANGING) == Won()
