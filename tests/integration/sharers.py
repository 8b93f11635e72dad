"""Workers for ``test_sharing``: processes that fork with two ledger objects at one path."""

from __future__ import annotations

from functools import partial
from multiprocessing.synchronize import Barrier
from threading import Thread

from integration.fork_scenarios import used_at
from integration.forking import Forked, barrier_for, race
from integration.standing import Standing
from processes import PATIENCE, Answers
from resolution_ledger import ResolutionLedger
from samples import WORKSPACE, record

RACED = range(1, 41)


def fork_with_both_used(_: Barrier, path: str) -> list[Answers]:
    """Both sides go on with both, one after the other, and both pairs race."""
    first, second, start = used_at(path), used_at(path), barrier_for(2)
    odd, even = range(1, 41, 2), range(2, 41, 2)

    def go_on(response: int) -> Answers:
        with_first = race(first, response, odd, start)
        with_second = race(second, response, even, start)
        return [answer for both in zip(with_first, with_second, strict=True) for answer in both]

    child = Forked().run(partial(go_on, 2))
    return [go_on(1), child.result()]


def fork_while_both_resolve(_: Barrier, path: str) -> list[Answers]:
    """The fork has to wait for a call of one, behind which a call of the other waits."""
    clock = Standing()
    slow = ResolutionLedger.open(path, workspace=WORKSPACE, lock_timeout=PATIENCE, clock=clock)
    other, start = used_at(path), barrier_for(2)
    threads = [
        Thread(target=slow.resolve, args=(record(1001, 1, 1),)),
        Thread(target=other.resolve, args=(record(1002, 1, 1),)),
    ]
    threads[0].start()
    clock.wait_for()
    threads[1].start()
    Thread(target=clock.let_go).start()
    child = Forked().run(lambda: race(other, 2, RACED, start))
    told = race(other, 1, RACED, start)
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    slow.close()
    return [told, child.result()]
