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
        ledger.resolve(record(1, 2, 2))
    return place


def call(r: int, begin: int, end: int | None, told: history.Told | None) -> history.Call:
    asked = history.Attempt(WORKSPACE, str(response(r)), f"key-{r}")
    return history.Call(f"c{r}", 1, str(instance(1)), asked, begin, end, told)


def replaced(place: Place, before: int, after: int) -> None:
    """By a backup that had nothing on record, with nobody inside a call."""
    done = Replacement(before, after, entries=0, paused=True)
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


def test_a_read_model_that_differs_from_the_log_is_told(place: Place) -> None:
    with closing(sqlite3.connect(place.ledger)) as foreign, foreign:
        foreign.execute("DROP TABLE interaction_resolutions")
    judgement = judge(place, [call(2, 10, 20, history.Won())])
    assert judgement.refused == judgement.contradicted == []
    assert judgement.findings
