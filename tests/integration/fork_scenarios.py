"""Workers for ``test_forks``: each is a program that forks, in a process of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from multiprocessing.synchronize import Barrier
from threading import Event, Thread, Timer, current_thread
from typing import Any
from weakref import WeakSet

from inside import kept_connections
from integration.forking import Forked, barrier_for, failure_of, race
from processes import PATIENCE, Answers, spawning
from resolution_ledger import ResolutionLedger, Won
from resolution_ledger.infra.sqlite import databases, forks
from resolution_ledger.infra.sqlite.connection import OpenConnection
from resolution_ledger.infra.sqlite.writer import Writer
from samples import WORKSPACE, instance, record

RACED = range(1, 101)


def open_at(path: str, **options: Any) -> ResolutionLedger:
    """A ledger object that waits long enough for any lock."""
    return ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE, **options)


def used_at(path: str) -> ResolutionLedger:
    """A ledger object that writes and reads, as it is when a host forks its workers."""
    ledger = open_at(path)
    ledger.resolve(record(0, 0, 0))
    ledger.winner(instance(0))
    assert len(kept_connections(ledger)) == 2
    return ledger


def parent_and_child_race(_: Barrier, path: str) -> list[Answers]:
    """Both go on with the ledger object that was open when the process forked."""
    ledger, start = used_at(path), barrier_for(2)
    child = Forked().run(lambda: race(ledger, 2, RACED, start))
    return [race(ledger, 1, RACED, start), child.result()]


def siblings_race(_: Barrier, path: str) -> list[Answers]:
    """Several children of one parent, which only waits."""
    ledger, start = used_at(path), barrier_for(4)
    children = [Forked().run(partial(race, ledger, n, RACED, start)) for n in range(4)]
    return [child.result() for child in children]


def child_and_stranger_race_after_the_parent_closed(_: Barrier, path: str) -> list[Answers]:
    """In between, a stranger opens and closes the file, which ends its WAL."""
    ledger, ready, start = used_at(path), spawning.Event(), barrier_for(2)

    def child_races() -> Answers:
        assert ready.wait(PATIENCE)
        return race(ledger, 1, RACED, start)

    child = Forked().run(child_races)
    ledger.close()
    visitor = spawning.Process(target=_open_and_close, args=(path,))
    visitor.start()
    visitor.join(PATIENCE)
    receiving, sending = spawning.Pipe(duplex=False)
    stranger = spawning.Process(target=_stranger_races, args=(path, ready, start, sending))
    stranger.start()
    answers = [child.result(), receiving.recv()]
    stranger.join(PATIENCE)
    return answers


def _open_and_close(path: str) -> None:
    with open_at(path) as ledger:
        assert ledger.winner(instance(0)) is not None


def _stranger_races(path: str, ready: Any, start: Any, results: Any) -> None:
    with open_at(path) as ledger:
        ready.set()
        results.send(race(ledger, 2, RACED, start))


def fork_while_another_thread_resolves(_: Barrier, path: str) -> dict[str, object]:
    """The fork comes while a thread holds the write lock, and has to wait for it."""
    inside, go_on = Event(), Event()

    def clock() -> int:
        inside.set()
        assert go_on.wait(PATIENCE)
        return 0

    ledger = open_at(path, clock=clock)
    told: list[object] = []
    thread = Thread(target=lambda: told.append(ledger.resolve(record(1, 1, 1))))
    thread.start()
    assert inside.wait(PATIENCE)
    Timer(0.3, go_on.set).start()
    child = Forked().run(
        lambda: {
            "inherited": len(kept_connections(ledger)),
            "sees": ledger.winner(instance(1)),
            "told": ledger.resolve(record(2, 2, 2)),
        }
    )
    thread.join(PATIENCE)
    return {"child": child.result(), "thread": told, "parent": ledger.resolve(record(3, 3, 3))}


def fork_while_another_thread_is_stuck(_: Barrier, path: str) -> dict[str, object]:
    """The other thread's clock does not return: the fork cannot wait for it for ever."""
    databases.PATIENCE = 0.2  # else this takes long
    inside, go_on = Event(), Event()

    def clock() -> int:
        inside.set()
        assert go_on.wait(PATIENCE)
        return 0

    ledger = ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=0.1, clock=clock)
    again = open_at(path)
    told: list[object] = []
    thread = Thread(target=lambda: told.append(ledger.resolve(record(1, 1, 1))))
    thread.start()
    assert inside.wait(PATIENCE)
    child = Forked().run(
        lambda: {
            "resolve": failure_of(lambda: ledger.resolve(record(2, 2, 2))),
            "winner": failure_of(lambda: ledger.winner(instance(1))),
            "another object": failure_of(lambda: again.resolve(record(2, 2, 2))),
            "close": failure_of(ledger.close),
        }
    )
    seen = child.result()
    go_on.set()
    thread.join(PATIENCE)
    return {"child": seen, "thread": told, "parent": ledger.resolve(record(3, 3, 3))}


def fork_inside_the_clock(_: Barrier, path: str) -> dict[str, object]:
    """The fork comes in the middle of a transaction of the thread that forks."""
    children: list[Forked] = []
    told: list[object] = []

    def clock() -> int:
        if not children:
            children.append(Forked())
        return 0

    ledger = open_at(path, clock=clock)
    # From here on there are two processes inside this call.
    ending = failure_of(lambda: told.append(ledger.resolve(record(1, 1, 1))))
    again = open_at(path)
    child = children[0].run(
        lambda: {
            "the call": ending,
            "resolve": failure_of(lambda: ledger.resolve(record(2, 2, 2))),
            "winner": failure_of(lambda: ledger.winner(instance(1))),
            "history": failure_of(lambda: ledger.history(instance(1))),
            "another object": failure_of(lambda: again.resolve(record(2, 2, 2))),
            "close": failure_of(ledger.close),
        }
    )
    return {
        "child": child.result(),
        "told": told,
        "next": ledger.resolve(record(3, 3, 3)),
        "outcomes": [attempt.outcome for attempt in ledger.history(instance(1))],
        "child's instance": ledger.winner(instance(2)),
    }


def fork_with_a_ledger_in_memory(_: Barrier, used: str) -> dict[str, object]:
    """Two copies of a ledger in memory would both decide."""
    ledger = open_at(":memory:")
    if used == "used":
        ledger.resolve(record(1, 1, 1))
    child = Forked().run(
        lambda: {
            "resolve": failure_of(lambda: ledger.resolve(record(2, 2, 2))),
            "again": failure_of(lambda: ledger.resolve(record(1, 1, 1))),
            "winner": failure_of(lambda: ledger.winner(instance(1))),
            "history": failure_of(lambda: ledger.history(instance(1))),
            "losers": failure_of(ledger.losers),
            "close": failure_of(ledger.close),
            "a new one": open_at(":memory:").resolve(record(1, 2, 2)),
        }
    )
    return {"child": child.result(), "parent": ledger.resolve(record(3, 3, 3))}


def close_inside_the_clock_and_fork(_: Barrier, path: str) -> list[bool]:
    """The call that goes on has its connection yet; the fork comes after it."""

    def clock() -> int:
        ledger.close()
        kept.extend(kept_connections(ledger))
        return 0

    kept: list[OpenConnection] = []
    ledger = open_at(path, clock=clock)
    ledger.resolve(record(1, 1, 1))
    assert kept
    return list(Forked().run(lambda: [_is_open(connection) for connection in kept]).result())


def fork_with_connections_idle(_: Barrier, path: str, guard: str) -> list[bool]:
    """For each connection that the ledger object has in the child: whether it is open."""
    ledger = used_at(path)
    if guard == "unguarded":
        forks._watched = WeakSet()  # noqa: SLF001 (as if the hooks were not there)
    child = Forked().run(lambda: [_is_open(link) for link in kept_connections(ledger)])
    return list(child.result())


def fork_while_another_thread_closes(_: Barrier, path: str) -> list[bool]:
    """For each connection that is about to be closed: whether it is open in the child."""
    ledger = used_at(path)
    kept = kept_connections(ledger)
    closing, go_on, close = Event(), Event(), OpenConnection.close

    def slow_close(self: OpenConnection) -> None:
        closing.set()
        assert go_on.wait(PATIENCE)
        close(self)

    OpenConnection.close = slow_close  # type: ignore[method-assign]
    thread = Thread(target=ledger.close)
    thread.start()
    assert closing.wait(PATIENCE)
    Timer(0.3, go_on.set).start()
    child = Forked().run(lambda: [_is_open(connection) for connection in kept])
    thread.join(PATIENCE)
    return list(child.result())


def fork_while_another_thread_forks(_: Barrier, path: str) -> list[bool]:
    """One thread's fork ends while another thread is about to fork; as above, in its child."""
    ledger = used_at(path)

    thread = Thread(target=lambda: Forked().run(lambda: None).result())

    def meanwhile() -> None:
        thread.start()
        thread.join(0.5)  # it may also have to wait for the other

    usable = _usable_after_a_slow_fork(ledger, meanwhile, lambda: ledger)
    thread.join(PATIENCE)
    return usable


def fork_while_another_thread_opens(_: Barrier, path: str) -> list[bool]:
    """A ledger object is opened while another thread is about to fork."""
    return _usable_after_a_slow_fork(used_at(path), lambda: None, lambda: open_at(path))


def _usable_after_a_slow_fork(
    ledger: ResolutionLedger, meanwhile: Callable[[], None], use: Callable[[], ResolutionLedger]
) -> list[bool]:
    """Fork in a thread that stops after it has drained; meanwhile others go on."""
    drained, go_on, drain = Event(), Event(), Writer.drain
    children: list[Forked] = []
    in_use = [ledger]

    def slow_drain(self: Writer) -> None:
        drain(self)
        if current_thread() is thread:
            drained.set()
            assert go_on.wait(PATIENCE)

    def fork() -> None:
        children.append(
            Forked().run(
                lambda: [
                    link.usable and _is_open(link)
                    for used in in_use
                    for link in kept_connections(used)
                ]
            )
        )

    Writer.drain = slow_drain  # type: ignore[method-assign]
    thread = Thread(target=fork)
    thread.start()
    assert drained.wait(PATIENCE)
    meanwhile()
    Timer(0.5, go_on.set).start()
    in_use.append(use())
    # Has to wait for the fork, or else its connection must not be used in the child.
    assert in_use[-1].resolve(record(1, 1, 1)) == Won()
    thread.join(PATIENCE)
    return list(children[0].result())


def _is_open(link: OpenConnection) -> bool:
    try:
        link.connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True
