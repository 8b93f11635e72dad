"""Another ledger is found where one was waited for: everybody who waited is told."""

from __future__ import annotations

import pytest

from listeners import see_that_nobody_listens
from resolution_ledger import StoreUnavailable
from resolution_ledger.infra.news import Looks, announce, wait_for
from unit.fake_log import FakeLog, bells, heard


@pytest.mark.parametrize("added", [0, 1], ids=["as long", "longer"])
def test_whoever_waits_is_told_although_the_other_one_has_no_news_for_it(
    monkeypatch: pytest.MonkeyPatch, added: int
) -> None:
    """It can be read like the one before: nobody but its place tells."""
    log = FakeLog("a")
    with bells(log, "a", "b", None) as ringing:
        looks = Looks()
        looks.look()
        heard(ringing)
        looks.look()
        assert heard(ringing) == [False, False, False]
        monkeypatch.setattr(log, "place", object)
        log.events += ["c"] * added
        looks.look()
        assert heard(ringing) == [True, True, True]
    see_that_nobody_listens()


@pytest.mark.parametrize("seconds", [None, 0, 0.01])
@pytest.mark.parametrize("found", [None, "found"])
def test_what_is_found_in_another_place_than_where_somebody_began_is_not_taken(
    seconds: float | None, found: str | None
) -> None:
    with pytest.raises(StoreUnavailable, match="replaced"):
        wait_for(lambda: found, FakeLog(), seconds=seconds, place="elsewhere")
    see_that_nobody_listens()


@pytest.mark.parametrize("looks", [1, 2, 3])
def test_a_place_that_changes_during_a_look_is_noticed(
    monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    """Whichever look it is."""
    log = FakeLog()
    place, left = log.place(), [None] * looks

    def look() -> str | None:
        left.pop()
        announce(log, "a")
        if left:
            return None
        monkeypatch.setattr(log, "place", object)
        return "found"

    with pytest.raises(StoreUnavailable, match="replaced"):
        wait_for(look, log, seconds=None, place=place)
    see_that_nobody_listens()
