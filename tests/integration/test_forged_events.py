"""Events that somebody appended with the right hash, but not by the rules: each is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from integration.appending import LENGTH, NEXT, end_of, findings_after
from integration.tampering import (
    ADOPTED,
    NOBODYS,
    Specimen,
    guards_dropped,
    make_ledger,
    rehash,
)
from resolution_ledger import Finding
from resolution_ledger.domain.events import (
    EVENT_TYPES,
    Attempt,
    AttemptConflicted,
    AttemptEvent,
    AttemptFenced,
    AttemptLost,
    AttemptReplayed,
    ResolutionAdopted,
    ResolutionWon,
    Withdrawal,
)
from resolution_ledger.domain.records import FIRST, Outcome
from resolution_ledger.infra.codec import encode_event
from resolution_ledger.infra.fingerprints import fingerprint_of
from samples import OTHER_WORKSPACE, attempt, instance


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """One for all tests. In it, response 0 of the first workspace won instance 0 with key 0."""
    path = tmp_path_factory.mktemp("forged") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


LOST = AttemptLost(attempt(4, 77), 5)


def test_an_event_that_the_rules_bear_out_is_sound(ledger: Specimen) -> None:
    """So it is what is wrong with those below, and nothing else, that is found."""
    assert findings_after(ledger, LOST) == []
    assert findings_after(ledger, ResolutionWon(attempt(1, 1), 5), stream=NOBODYS["instance"]) == []


DECISIONS: dict[str, tuple[AttemptEvent, str | None]] = {
    "the win, a second time": (AttemptReplayed(attempt(0, 0), 5), None),
    "a loss that is a replay": (AttemptLost(attempt(0, 77), 5), "replayed"),
    "a replay that is a loss": (AttemptReplayed(attempt(4, 77), 5), "lost"),
    "a refusal that is a loss": (AttemptConflicted(attempt(4, 77), 5), "lost"),
    "a fence that is none": (AttemptFenced(attempt(4, 77), 5), "lost"),
    "a loss outside the fence": (AttemptLost(attempt(4, 77, OTHER_WORKSPACE), 5), "fenced"),
    "a loss under another's key": (AttemptLost(attempt(77, 0), 5), "conflicted"),
}


@pytest.mark.parametrize(("event", "expected"), DECISIONS.values(), ids=DECISIONS)
def test_an_event_that_should_have_been_another_is_found(
    ledger: Specimen, event: AttemptEvent, expected: str | None
) -> None:
    """With what it should have been: None for what should not be on record."""
    assert findings_after(ledger, event) == [
        Finding("decision", NEXT, instance(0).text, expected, event.tag)
    ]


def test_a_retransmission_on_record_is_found(ledger: Specimen) -> None:
    """Of any event: what is on record already does not belong there again."""
    ledger.damage()
    later = [at for at in ledger.admin.attempts(after=ADOPTED) if at.outcome not in FIRST]
    assert {at.outcome for at in later} == {*get_args(Outcome)} - FIRST
    for at in later:
        cause: Attempt | Withdrawal
        if at.response is None or at.idempotency_key is None:
            assert at.reason is not None
            cause = Withdrawal(at.workspace, at.reason, "another label")
        else:
            cause = Attempt(at.workspace, at.response, at.idempotency_key, "another label")
        event = EVENT_TYPES[at.outcome](cause, 9)
        findings = findings_after(ledger, event, stream=at.instance.text)
        assert findings == [Finding("decision", NEXT, at.instance.text, None, at.outcome)]


@pytest.mark.parametrize("gap", [1, 5])
def test_a_gap_in_a_stream_is_found(ledger: Specimen, gap: int) -> None:
    """With the position that was due."""
    findings = findings_after(ledger, LOST, gap=gap)
    found = end_of(ledger, instance(0).text)
    due = str(found - gap)
    assert findings == [Finding("position", NEXT, instance(0).text, due, str(found))]


@pytest.mark.parametrize("gap", [-100, -500])
def test_an_event_before_position_1_is_found(ledger: Specimen, gap: int) -> None:
    """Whatever else is then found of those that come after it."""
    findings = findings_after(ledger, LOST, gap=gap)
    assert ("position", NEXT) in {(f.kind, f.sequence) for f in findings}


@pytest.mark.parametrize("win", [ResolutionWon, ResolutionAdopted])
def test_a_second_win_is_found(
    ledger: Specimen, win: type[ResolutionWon | ResolutionAdopted]
) -> None:
    """It stands where no win can stand."""
    findings = findings_after(ledger, win(attempt(4, 77), 5))
    assert [(f.kind, f.sequence) for f in findings] == [("event", NEXT)]


@pytest.mark.parametrize("kind", [AttemptLost, AttemptReplayed, AttemptFenced])
def test_a_stream_that_does_not_begin_with_a_win_is_found(
    ledger: Specimen, kind: type[AttemptEvent]
) -> None:
    """At position 1, or where position 1 is missing."""
    event, stream = kind(attempt(1, 1), 5), NOBODYS["instance"]
    at_once = findings_after(ledger, event, stream=stream)
    assert [(f.kind, f.sequence) for f in at_once] == [("event", NEXT)]
    later = findings_after(ledger, event, stream=stream, gap=1)
    assert {(f.kind, f.sequence) for f in later} == {("position", NEXT), ("decision", NEXT)}


def test_an_adopted_win_after_other_events_is_found(ledger: Specimen) -> None:
    """Winners are adopted once, before anything else happens."""
    event = ResolutionAdopted(attempt(1, 1), 5)
    assert findings_after(ledger, event, stream=NOBODYS["instance"]) == [
        Finding("event", NEXT, NOBODYS["instance"], None, "adopted")
    ]


@pytest.mark.parametrize(
    "stream", ["", "no id", instance(0).text.upper(), f"{instance(0)} ", f"{instance(0)}\n"]
)
def test_a_stream_that_is_no_canonical_id_is_found(ledger: Specimen, stream: str) -> None:
    """Under the name that it has."""
    findings = findings_after(ledger, ResolutionWon(attempt(1, 1), 5), stream=stream)
    assert findings == [Finding("instance", NEXT, stream, None, stream)]


@pytest.mark.parametrize(
    "change",
    [
        {"tag": "annulled"},
        {"tag": "LOST"},
        {"state": b""},
        {"state": encode_event(LOST) + b"\0"},
        {"state": b"\xdc\0\6" + encode_event(LOST)[1:]},
        {"state": encode_event(LOST).replace(b"\x96\x01", b"\x96\x02", 1)},
        {"state": encode_event(LOST).replace(b"bafyr4i", b"BAFYR4I", 1)},
        {"state": encode_event(LOST).replace(b"key-77", b"key-\xff7", 1)},
    ],
)
def test_bytes_or_tags_that_no_ledger_writes_are_found(
    ledger: Specimen, change: dict[str, bytes]
) -> None:
    """Once, as an event that cannot be read."""
    findings = findings_after(ledger, LOST, **change)  # type: ignore[arg-type]
    assert [(f.kind, f.sequence) for f in findings] == [("event", NEXT)]


@pytest.mark.parametrize("fingerprint", [0, 1, 2**63 - 1, -(2**63)])
def test_a_fingerprint_under_which_nobody_would_find_the_event_is_found(
    ledger: Specimen, fingerprint: int
) -> None:
    """With the one that it should have."""
    findings = findings_after(ledger, LOST, fingerprint=fingerprint)
    expected = str(fingerprint_of(instance(0).text, LOST))
    assert findings == [Finding("fingerprint", NEXT, instance(0).text, expected, str(fingerprint))]


def test_a_chain_that_was_written_anew_does_not_hide_what_the_rules_refuse(
    ledger: Specimen,
) -> None:
    """Refusals that were turned into losses, with hashes to match."""
    ledger.damage("UPDATE resolution_events SET topic = 'lost' WHERE topic = 'conflicted'")
    with guards_dropped(ledger.connection):
        rehash(ledger.connection)
    found: dict[str, set[int | None]] = {}
    for finding in ledger.verify():
        found.setdefault(finding.kind, set()).add(finding.sequence)
    changed = set(
        ledger.column("SELECT sequence FROM sound_resolution_events WHERE topic = 'conflicted'")
    )
    assert changed
    assert found.keys() == {"decision", "fingerprint", "losing attempt"}
    assert all(sequences == changed for sequences in found.values())
