"""Long runs: how far they are, and how many findings they keep."""

from __future__ import annotations

import pytest

from resolution_ledger import Finding, Progress, Report
from resolution_ledger.infra import runs
from resolution_ledger.infra.runs import Run
from resolution_ledger.projections.read_models import WINNERS

SOME = [Finding("hash", n, None, "a", "b") for n in range(10)]


def test_a_run_that_found_nothing_is_clean() -> None:
    """And says how far it looked."""
    assert Run(7, 21).report() == Report(7, (), 0)
    assert Run(7, 21).report().clean


def test_what_was_found_is_reported_in_order_and_told_at_once() -> None:
    """To whoever wants to know."""
    told: list[Finding] = []
    run = Run(7, 21, on_finding=told.append)
    for n, finding in enumerate(SOME, start=1):
        run.found(finding)
        assert told == SOME[:n]
        assert run.report() == Report(7, tuple(SOME[:n]), n)
        assert not run.report().clean


@pytest.mark.parametrize("kept", [0, 1, 4, 10, 11])
def test_a_report_keeps_so_many_findings_and_counts_all(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones; all of them are told all the same."""
    monkeypatch.setattr(runs, "KEPT", kept)
    told: list[Finding] = []
    for listener in (None, told.append):
        run = Run(7, 21, on_finding=listener)
        for finding in SOME:
            run.found(finding)
        assert run.report() == Report(7, tuple(SOME[:kept]), 10)
    assert told == SOME


@pytest.mark.parametrize("kept", [0, 2, 5])
def test_rows_that_differ_are_found_kept_and_counted_as_well(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past those that are kept, nobody has to put into words what nobody asks for."""
    monkeypatch.setattr(runs, "KEPT", kept)
    told: list[Finding] = []
    text = "instance_id='x', workspace_key='ws', response_id='r', idempotency_key='k', "
    expected = [Finding("winner", None, "x", None, f"{text}resolved_tick={n}") for n in range(4)]
    for listener in (None, told.append):
        run = Run(7, 21, on_finding=listener)
        for n in range(4):
            run.differs(WINNERS, "x", None, ("x", "ws", "r", "k", n))
        assert run.report() == Report(7, tuple(expected[:kept]), 4)
    assert told == expected


def test_a_report_keeps_ten_thousand_findings() -> None:
    """So that whatever is wrong with a ledger, it has room in memory."""
    run = Run(0, 0)
    for _ in range(10_001):
        run.found(SOME[0])
    assert (len(run.report().findings), run.report().count) == (10_000, 10_001)


def test_progress_goes_up_to_the_total_and_never_past_it() -> None:
    """Whatever the run counts as looked at."""
    told: list[Progress] = []
    run = Run(7, 21, told.append)
    for events in (0, 5, 0, 15, 3, 100, 0):
        run.advance(events)
    assert [progress.done for progress in told] == [0, 5, 5, 20, 21, 21, 21]
    assert {progress.total for progress in told} == {21}
    assert [progress.seconds for progress in told] == sorted(p.seconds for p in told)
    assert told[0].seconds >= 0


def test_nobody_has_to_listen() -> None:
    """A run without a listener goes on all the same."""
    Run(7, 21).advance(5)


@pytest.mark.parametrize(
    ("done", "seconds", "rate", "left"),
    [(0, 0.0, 0.0, None), (5, 0.0, 0.0, None), (0, 2.0, 0.0, None), (10, 2.0, 5.0, 18.0)],
)
def test_time_left_is_told_as_soon_as_there_is_a_rate(
    done: int, seconds: float, rate: float, left: float | None
) -> None:
    """And not before."""
    progress = Progress(done, 100, seconds)
    assert (progress.rate, progress.seconds_left) == (rate, left)


def test_at_the_end_no_time_is_left() -> None:
    """Nor at the end of nothing."""
    assert Progress(100, 100, 4.0).seconds_left == 0
    assert Progress(0, 0, 4.0).seconds_left in {None, 0}
