"""One ledger object, shared by threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from answers import Answer, answer, outcomes
from contract.backends import OpenLedger
from resolution_ledger import ResolutionLedger
from samples import instance, key, record, response
from submissions import Closing

CALLS = 256


@pytest.fixture(params=[1, 2, 8, 32, 128])
def threads(request: pytest.FixtureRequest) -> int:
    """How many there are."""
    return int(request.param)


@pytest.fixture
def instances(threads: int) -> range:
    """Those that each of them answers: the fewer, the more there are."""
    return range(min(30, max(3, CALLS // threads)))


def together(threads: int, work: Callable[[int], list[Answer]]) -> list[list[Answer]]:
    """What each thread was told; they start at once."""
    start = Barrier(threads, timeout=60)

    def one(number: int) -> list[Answer]:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(threads)))


@pytest.mark.parametrize("shared", [True, False], ids=["one object", "an object each"])
def test_of_many_threads_one_wins_and_all_others_are_told_who(
    open_ledger: OpenLedger, threads: int, instances: range, *, shared: bool
) -> None:
    ledger = open_ledger()
    doors = [ledger if shared else open_ledger() for _ in range(threads)]
    told = together(
        threads,
        lambda number: [answer(doors[number], record(n, number, number)) for n in instances],
    )
    for n in instances:
        answers = [answers[n] for answers in told]
        winner = response(answers.index(("won",)))
        assert ledger.winner(instance(n)) == winner
        assert sorted(answers, key=len) == [("won",), *[("lost", winner)] * (threads - 1)]
        assert [attempt.position for attempt in ledger.history(instance(n))] == list(
            range(1, threads + 1)
        )


def test_of_answers_and_withdrawals_in_many_threads_one_is_first_and_all_are_told_which(
    ledger: ResolutionLedger, threads: int, instances: range
) -> None:
    def work(number: int) -> list[Answer]:
        if number % 2:
            return [answer(ledger, record(n, number, number)) for n in instances]
        return [answer(ledger, Closing(instance(n), "expired")) for n in instances]

    told = together(threads, work)
    for n in instances:
        answers, withdrawals = ([told[t][n] for t in range(s, threads, 2)] for s in (1, 0))
        first, *later = ledger.history(instance(n))
        if first.outcome == "closed":
            assert answers == [("closed", "expired")] * (threads // 2)
            closings = [("closed", "expired")] * (threads // 2 - 1)
            assert sorted(withdrawals) == [*closings, ("withdrawn",)]
            assert ledger.winner(instance(n)) is None
            assert outcomes(later) == ["late"] * (threads // 2)
        else:
            winner = ledger.winner(instance(n))
            assert sorted(answers, key=len) == [("won",), *[("lost", winner)] * (threads // 2 - 1)]
            assert withdrawals == [("lost", winner)] * (threads // 2)
            assert outcomes(later).count("withdrawal-lost") == 1
            assert outcomes(later).count("lost") == threads // 2 - 1


def test_one_submission_sent_by_many_threads_is_recorded_once(
    ledger: ResolutionLedger, threads: int, instances: range
) -> None:
    told = together(threads, lambda _: [answer(ledger, record(n, 1, 1)) for n in instances])
    for n in instances:
        answers = sorted((answers[n] for answers in told), key=len)
        assert answers == [("won",), *[("replayed", response(1), True)] * (threads - 1)]
        assert len(ledger.history(instance(n))) == 1


def test_of_many_responses_under_one_key_all_but_the_winner_conflict(
    ledger: ResolutionLedger, threads: int
) -> None:
    told = together(threads, lambda number: [answer(ledger, record(1, number, 1))])
    answers = [answer for (answer,) in told]
    winner = answers.index(("won",))
    for number, answered in enumerate(answers):
        if number != winner:
            assert answered == ("conflict", key(1), response(winner), response(number))
    assert len(ledger.history(instance(1))) == threads
