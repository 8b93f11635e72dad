"""Workers for ``test_seats``: processes that fork inside a read."""

from __future__ import annotations

from multiprocessing.synchronize import Barrier
from threading import Event, Thread, Timer

from inside import database_of, kept_connections
from integration.crowded import open_at
from integration.forking import Forked, failure_of
from processes import PATIENCE
from samples import instance, record, response


def fork_inside_a_read(_: Barrier, path: str) -> dict[str, object]:
    """From here on there are two processes inside the read. What each can do after it."""
    ledger = open_at(path)
    ledger.resolve(record(1, 1, 1))
    ledger.winner(instance(1))
    child = database_of(ledger).read(lambda _: Forked())
    child.run(
        lambda: {
            "kept": len(kept_connections(ledger)),
            "winner": failure_of(lambda: ledger.winner(instance(1))),
            "resolve": failure_of(lambda: ledger.resolve(record(2, 2, 2))),
            "close": failure_of(ledger.close),
        }
    )
    return {
        "child": child.result(),
        "winner": ledger.winner(instance(1)) == response(1),
        "next": type(ledger.resolve(record(2, 2, 2))).__name__,
    }


def fork_while_another_thread_reads(_: Barrier, path: str) -> dict[str, object]:
    """The fork has to wait for the read."""
    ledger = open_at(path)
    ledger.resolve(record(1, 1, 1))
    inside, go_on = Event(), Event()

    def read(_: object) -> bool:
        inside.set()
        return go_on.wait(PATIENCE)

    ended: list[bool] = []
    thread = Thread(target=lambda: ended.append(database_of(ledger).read(read)))
    thread.start()
    assert inside.wait(PATIENCE)
    Timer(0.3, go_on.set).start()
    child = Forked().run(
        lambda: {
            "ended": go_on.is_set(),
            "inherited": len(kept_connections(ledger)),
            "winner": ledger.winner(instance(1)) == response(1),
            "resolve": type(ledger.resolve(record(2, 2, 2))).__name__,
        }
    )
    thread.join(PATIENCE)
    return {"child": child.result(), "read": ended}
