"""Closings, and what comes after them, appended with the right hash, but not by the rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.appending import LENGTH, NEXT, end_of, findings_after
from integration.tampering import NOBODYS, Specimen, guards_dropped, make_ledger, rehash
from resolution_ledger import Finding
from resolution_ledger.domain.events import (
    AttemptFenced,
    AttemptLate,
    AttemptLost,
    AttemptReplayed,
    Event,
    InstanceClosed,
    ResolutionWon,
    Withdrawal,
    WithdrawalFenced,
    WithdrawalLate,
    WithdrawalLost,
)
from resolution_ledger.domain.records import Reason
from resolution_ledger.infra.codec import encode_event
from resolution_ledger.infra.fingerprints import fingerprint_of
from samples import OTHER_WORKSPACE, WORKSPACE, attempt, instance

WON, CLOSED, OPEN = instance(0).text, instance(6).text, NOBODYS["instance"]
"""Won by response 0 of the first workspace; closed by the other one, as pointless; neither."""


def withdrawal(reason: Reason, workspace: str = WORKSPACE) -> Withdrawal:
    """The decision to stop asking."""
    return Withdrawal(workspace, reason, "timer")


EXPIRED, THEIRS = withdrawal("expired"), withdrawal("expired", OTHER_WORKSPACE)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    """One for all tests."""
    path = tmp_path_factory.mktemp("forged") / "ledger.db"
    make_ledger(path, LENGTH)
    with Specimen(path) as specimen:
        yield specimen


SOUND: dict[str, tuple[str, Event]] = {
    "a closing of what is open": (OPEN, InstanceClosed(EXPIRED, 5)),
    "a withdrawal after a win": (WON, WithdrawalLost(EXPIRED, 5)),
    "one that is fenced by a win": (WON, WithdrawalFenced(THEIRS, 5)),
    "one that is late": (CLOSED, WithdrawalLate(THEIRS, 5)),
    "one that is fenced by a closing": (CLOSED, WithdrawalFenced(EXPIRED, 5)),
    "an attempt that is late": (CLOSED, AttemptLate(attempt(77, 77, OTHER_WORKSPACE), 5)),
    "an attempt that is fenced by a closing": (CLOSED, AttemptFenced(attempt(77, 77), 5)),
}


@pytest.mark.parametrize(("stream", "event"), SOUND.values(), ids=SOUND)
def test_what_the_rules_bear_out_is_sound(ledger: Specimen, stream: str, event: Event) -> None:
    """So it is what is wrong with those below, and nothing else, that is found."""
    assert findings_after(ledger, event, stream=stream) == []


LATE_OF_THEIRS = attempt(77, 77, OTHER_WORKSPACE)

DECISIONS: dict[str, tuple[str, Event, str | None]] = {
    "late where it was lost": (WON, AttemptLate(attempt(4, 77), 5), "lost"),
    "late where it was a replay": (WON, AttemptLate(attempt(0, 77), 5), "replayed"),
    "late where it was a conflict": (WON, AttemptLate(attempt(77, 0), 5), "conflicted"),
    "late where it was fenced": (CLOSED, AttemptLate(attempt(77, 77), 5), "fenced"),
    "lost where it was late": (CLOSED, AttemptLost(LATE_OF_THEIRS, 5), "late"),
    "a replay where it was late": (CLOSED, AttemptReplayed(LATE_OF_THEIRS, 5), "late"),
    "fenced where it was late": (CLOSED, AttemptFenced(LATE_OF_THEIRS, 5), "late"),
    "withdrawn too late where it was lost": (WON, WithdrawalLate(EXPIRED, 5), "withdrawal-lost"),
    "withdrawn and lost where it was too late": (
        CLOSED,
        WithdrawalLost(THEIRS, 5),
        "withdrawal-late",
    ),
    "withdrawn and lost outside the fence": (WON, WithdrawalLost(THEIRS, 5), "withdrawal-fenced"),
    "withdrawn too late outside the fence": (
        CLOSED,
        WithdrawalLate(EXPIRED, 5),
        "withdrawal-fenced",
    ),
    "withdrawn and fenced where it was lost": (
        WON,
        WithdrawalFenced(EXPIRED, 5),
        "withdrawal-lost",
    ),
    "withdrawn and fenced where it was too late": (
        CLOSED,
        WithdrawalFenced(THEIRS, 5),
        "withdrawal-late",
    ),
    "the closing, a second time": (
        CLOSED,
        WithdrawalLate(withdrawal("withdrawn", OTHER_WORKSPACE), 5),
        None,
    ),
}


@pytest.mark.parametrize(("stream", "event", "expected"), DECISIONS.values(), ids=DECISIONS)
def test_what_should_have_been_another_event_is_found(
    ledger: Specimen, stream: str, event: Event, expected: str | None
) -> None:
    """With what it should have been: None for what should not be on record."""
    assert findings_after(ledger, event, stream=stream) == [
        Finding("decision", NEXT, stream, expected, event.tag)
    ]


@pytest.mark.parametrize("stream", [WON, CLOSED, instance(4).text, instance(5).text])
def test_a_closing_past_position_1_is_found(ledger: Specimen, stream: str) -> None:
    """Whether the instance was won or closed: it stands where no closing can stand."""
    findings = findings_after(ledger, InstanceClosed(EXPIRED, 5), stream=stream)
    assert [(f.kind, f.sequence) for f in findings] == [("event", NEXT)]


@pytest.mark.parametrize("stream", [CLOSED, instance(4).text])
def test_a_win_of_what_was_closed_is_found(ledger: Specimen, stream: str) -> None:
    """Wherever in the stream."""
    findings = findings_after(ledger, ResolutionWon(attempt(1, 1), 5), stream=stream)
    assert [(f.kind, f.sequence) for f in findings] == [("event", NEXT)]


@pytest.mark.parametrize(
    "event",
    [
        AttemptLate(attempt(1, 1), 5),
        WithdrawalLost(EXPIRED, 5),
        WithdrawalLate(EXPIRED, 5),
        WithdrawalFenced(EXPIRED, 5),
    ],
    ids=lambda event: event.tag,
)
def test_what_comes_after_a_closing_or_a_win_is_found_where_there_is_none(
    ledger: Specimen, event: Event
) -> None:
    """At position 1, or where position 1 is missing."""
    at_once = findings_after(ledger, event, stream=OPEN)
    assert [(f.kind, f.sequence) for f in at_once] == [("event", NEXT)]
    later = findings_after(ledger, event, stream=OPEN, gap=1)
    assert {(f.kind, f.sequence) for f in later} == {("position", NEXT), ("decision", NEXT)}


LOST = WithdrawalLost(EXPIRED, 5)
BYTES = encode_event(LOST)
OF_AN_ATTEMPT = encode_event(AttemptLost(attempt(4, 77), 5))


@pytest.mark.parametrize(
    "change",
    [
        {"tag": "lost"},
        {"tag": "late"},
        {"tag": "WITHDRAWAL-LOST"},
        {"tag": "withdrawal"},
        {"state": b""},
        {"state": BYTES + b"\0"},
        {"state": b"\xdc\0\5" + BYTES[1:]},
        {"state": BYTES.replace(b"\x95\x01", b"\x95\x02", 1)},
        {"state": BYTES.replace(b"\xa7expired", b"\xa7Expired", 1)},
        {"state": BYTES.replace(b"\xa7expired", b"\xa0", 1)},
        {"state": BYTES.replace(b"\xa7expired", b"\xc0", 1)},
        {"state": BYTES.replace(b"ws-1", b"ws\xff1", 1)},
        {"state": BYTES.replace(b"\xa4ws-1", b"\xa0", 1)},
        {"state": OF_AN_ATTEMPT},
    ],
    ids=str,
)
def test_bytes_or_tags_that_no_ledger_writes_of_a_withdrawal_are_found(
    ledger: Specimen, change: dict[str, bytes]
) -> None:
    """Once, as an event that cannot be read."""
    assert change != {"state": BYTES}
    findings = findings_after(ledger, LOST, **change)  # type: ignore[arg-type]
    assert [(f.kind, f.sequence) for f in findings] == [("event", NEXT)]


@pytest.mark.parametrize("fingerprint", [0, 1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize(
    ("stream", "event"),
    [(WON, LOST), (CLOSED, AttemptLate(LATE_OF_THEIRS, 5)), (CLOSED, WithdrawalLate(THEIRS, 5))],
)
def test_a_fingerprint_under_which_nobody_would_find_it_is_found(
    ledger: Specimen, stream: str, event: Event, fingerprint: int
) -> None:
    """With the one that it should have."""
    findings = findings_after(ledger, event, stream=stream, fingerprint=fingerprint)
    expected = str(fingerprint_of(stream, event))
    assert findings == [Finding("fingerprint", NEXT, stream, expected, str(fingerprint))]


@pytest.mark.parametrize("gap", [1, 5])
def test_a_gap_behind_a_closing_is_found(ledger: Specimen, gap: int) -> None:
    """With the position that was due."""
    findings = findings_after(ledger, WithdrawalLate(THEIRS, 5), stream=CLOSED, gap=gap)
    found = end_of(ledger, CLOSED)
    assert findings == [Finding("position", NEXT, CLOSED, str(found - gap), str(found))]


def test_a_chain_that_was_written_anew_does_not_hide_that_somebody_was_late(
    ledger: Specimen,
) -> None:
    """Late attempts that were turned into losses, with hashes to match."""
    ledger.damage("UPDATE resolution_events SET topic = 'lost' WHERE topic = 'late'")
    with guards_dropped(ledger.connection):
        rehash(ledger.connection)
    changed = set(
        ledger.column("SELECT sequence FROM sound_resolution_events WHERE topic = 'late'")
    )
    found: dict[str, set[int | None]] = {}
    for finding in ledger.verify():
        found.setdefault(finding.kind, set()).add(finding.sequence)
    assert len(changed) > 2
    assert found.keys() == {"decision", "fingerprint", "losing attempt"}
    assert all(sequences == changed for sequences in found.values())
