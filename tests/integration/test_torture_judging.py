"""What a round is judged by: the log, what ``verify`` says, and which file a call went to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from resolution_ledger import ResolutionLedger
from samples import WORKSPACE, instance, record, response
from torture import history
from torture.judging import judge
from torture.nemeses.replacing import Replacement
from torture.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Of a round in which response 2 has won instance 1."""
    place = Place(str(tmp_path))
    place.make()
    with ResolutionLedger.open(place.ledger, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(1, 2, 2, "c2"))
    return place


def call(r: int, begin: int, end: int | None, told: history.Told | None) -> history.Call:
    asked = history.Attempt(WORKSPACE, str(response(r)), f"key-{r}")
    return history.Call(f"c{r}", 1, str(instance(1)), asked, begin, end, told)


def replaced(
    place: Place, before: int, after: int, *, entries: int = 0, paused: bool = True
) -> None:
    """By a backup that had nothing on record, with nobody inside a call."""
    done = Replacement(before, after, entries, paused)
    place.folder("replaced").write_bytes(msgspec.json.encode(done))


def test_a_round_of_which_everything_is_on_record_is_clean(place: Place) -> None:
    assert judge(place, [call(2, 10, 20, history.Won())]).clean


def test_an_acknowledged_attempt_that_is_not_on_record_is_told(place: Place) -> None:
    calls = [call(2, 10, 20, history.Won()), call(1, 30, 40, history.Lost(str(response(2))))]
    judgement = judge(place, calls)
    assert judgement.refused == []
    assert [one.calls for one in judgement.contradicted] == [(calls[1],)]


def test_what_was_acknowledged_of_a_file_that_was_replaced_may_be_gone_with_it(
    place: Place,
) -> None:
    calls = [call(1, 10, 20, history.Won()), call(2, 30, 40, history.Won())]
    assert not judge(place, calls).clean
    replaced(place, 22, 24)
    assert judge(place, calls).clean


def test_what_was_asked_while_the_file_was_replaced_may_have_gone_to_either(
    place: Place,
) -> None:
    calls = [call(1, 10, 23, history.Won()), call(2, 30, 40, history.Won())]
    replaced(place, 22, 24)
    assert judge(place, calls).clean


def test_what_was_acknowledged_of_the_file_that_came_has_to_be_there(place: Place) -> None:
    replaced(place, 2, 4)
    assert not judge(place, [call(1, 10, 20, history.Won())]).clean


def test_what_nobody_knows_of_may_happen_to_the_file_that_came(place: Place) -> None:
    replaced(place, 22, 24)
    assert judge(place, [call(2, 10, 20, history.Unknown("KeyboardInterrupt"))]).clean


def test_calls_to_the_file_that_went_are_judged_among_themselves(place: Place) -> None:
    calls = [call(1, 10, 20, history.Won()), call(3, 10, 20, history.Won())]
    replaced(place, 22, 24)
    judgement = judge(place, [*calls, call(2, 30, 40, history.Won())])
    assert [one.calls for one in judgement.refused] == [tuple(calls)]
    assert judgement.contradicted == []


def test_what_the_copy_had_on_record_was_there_before_all_calls_to_it(place: Place) -> None:
    replaced(place, 2, 4, entries=1)
    own = history.Replayed(str(response(2)), own=True)
    assert judge(place, [call(2, 30, 40, own)]).clean
    again = judge(place, [call(2, 30, 40, history.Won())])
    assert again.refused
    assert again.contradicted


NOBODY = history.Call(
    "c3", 1, str(instance(1)), history.AskWinner(WORKSPACE), 30, 40, history.WinnerIs(None)
)


def test_a_read_may_be_of_the_file_that_went_for_a_moment(place: Place) -> None:
    replaced(place, 22, 24, entries=1, paused=False)
    assert judge(place, [NOBODY]).clean
    assert not judge(place, [msgspec.structs.replace(NOBODY, invoked=10**9, completed=10**9)]).clean


def test_where_nobody_was_inside_a_call_every_read_after_it_is_of_the_file_that_came(
    place: Place,
) -> None:
    replaced(place, 22, 24, entries=1)
    assert not judge(place, [NOBODY]).clean


def test_a_read_model_that_differs_from_the_log_is_told(place: Place) -> None:
    with closing(sqlite3.connect(place.ledger)) as foreign, foreign:
        foreign.execute("DROP TABLE interaction_resolutions")
    judgement = judge(place, [call(2, 10, 20, history.Won())])
    assert judgement.refused == judgement.contradicted == []
    assert judgement.findings
