"""Fingerprints: part of the storage format, so the same for good."""

from __future__ import annotations

import pytest

from resolution_ledger.domain.events import (
    EVENT_TYPES,
    Attempt,
    AttemptConflicted,
    AttemptFenced,
    AttemptLate,
    AttemptLost,
    AttemptReplayed,
    Event,
    InstanceClosed,
    ResolutionAdopted,
    ResolutionWon,
    Withdrawal,
    WithdrawalEvent,
    WithdrawalFenced,
    WithdrawalLate,
    WithdrawalLost,
)
from resolution_ledger.domain.text import IdempotencyKey
from resolution_ledger.infra.fingerprints import fingerprint_of, fingerprints_for
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, response, withdrawal

STREAM = "bafyr4iccsitnchfwc73mhvdfi63dk5trdrzpl6i4uljru6a7527ege35ji"
ATTEMPT = Attempt(WORKSPACE, response(0), key(4), "tty")
WITHDRAWAL = Withdrawal(WORKSPACE, "expired", "tty")

# BLAKE2b of 8 bytes, read as a signed number, most significant byte first, over
# STREAM NUL "key-4", and over STREAM NUL "ws-1" NUL the response NUL "key-4".
OF_THE_KEY, OF_THE_SUBMISSION = 3026709998453072478, -6937634107893527806

# The same over STREAM NUL "ws-1" NUL "expired".
OF_THE_WITHDRAWAL = -4099131578503313838

EXPECTED: dict[type[Event], int] = {
    ResolutionWon: 0,
    ResolutionAdopted: 0,
    InstanceClosed: 0,
    AttemptLost: OF_THE_KEY,
    AttemptReplayed: OF_THE_KEY,
    AttemptConflicted: OF_THE_SUBMISSION,
    AttemptFenced: OF_THE_SUBMISSION,
    AttemptLate: OF_THE_SUBMISSION,
    WithdrawalLost: OF_THE_WITHDRAWAL,
    WithdrawalFenced: OF_THE_WITHDRAWAL,
    WithdrawalLate: OF_THE_WITHDRAWAL,
}


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)
def test_an_event_has_the_fingerprint_that_it_always_had(kind: type[Event]) -> None:
    """Of its key where it may own it, else of its submission; none where it stands first."""
    assert instance(0).text == STREAM
    cause = WITHDRAWAL if issubclass(kind, WithdrawalEvent) else ATTEMPT
    assert fingerprint_of(STREAM, kind(cause, 0)) == EXPECTED[kind]


def test_an_attempt_is_looked_up_by_its_key_and_by_its_submission() -> None:
    """In this order."""
    assert fingerprints_for(STREAM, ATTEMPT) == (OF_THE_KEY, OF_THE_SUBMISSION)


def test_a_withdrawal_is_looked_up_by_its_submission_alone() -> None:
    """It has no key, and what else is on record makes no difference to it."""
    assert fingerprints_for(STREAM, WITHDRAWAL)[-1] == OF_THE_WITHDRAWAL
    assert set(fingerprints_for(STREAM, WITHDRAWAL)) <= {0, OF_THE_WITHDRAWAL}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (withdrawal("expired", by="web"), True),
        (withdrawal("withdrawn", by="tty"), False),
        (withdrawal("expired", OTHER_WORKSPACE, by="tty"), False),
    ],
    ids=["label", "reason", "workspace"],
)
def test_a_withdrawals_fingerprint_is_of_what_makes_it_the_same_one(
    other: Withdrawal, *, same: bool
) -> None:
    """Its label is not."""
    assert (fingerprints_for(STREAM, other)[1] == OF_THE_WITHDRAWAL) is same


def test_a_withdrawal_shares_no_fingerprint_with_an_attempt() -> None:
    """Whatever the attempt's key says."""
    for text in ("expired", f"{WORKSPACE}expired"):
        attempt = Attempt(WORKSPACE, response(0), IdempotencyKey(text), "")
        assert OF_THE_WITHDRAWAL not in fingerprints_for(STREAM, attempt)


@pytest.mark.parametrize(
    ("other", "same_key"),
    [
        (Attempt(WORKSPACE, response(0), key(4), "web"), True),
        (Attempt(WORKSPACE, response(1), key(4), "tty"), True),
        (Attempt(OTHER_WORKSPACE, response(0), key(4), "tty"), True),
        (Attempt(WORKSPACE, response(0), key(2), "tty"), False),
    ],
    ids=["label", "response", "workspace", "key"],
)
def test_what_is_not_compared_is_not_in_the_fingerprint(other: Attempt, *, same_key: bool) -> None:
    """And what is compared is."""
    of_key, of_submission = fingerprints_for(STREAM, other)
    assert (of_key == OF_THE_KEY) is same_key
    assert (of_submission == OF_THE_SUBMISSION) is (other.submission == ATTEMPT.submission)


def test_instances_share_no_fingerprints() -> None:
    """A key of one has nothing to do with the same key of another."""
    assert not set(fingerprints_for(instance(1).text, ATTEMPT)) & {OF_THE_KEY, OF_THE_SUBMISSION}
    assert fingerprints_for(instance(1).text, WITHDRAWAL)[-1] != OF_THE_WITHDRAWAL


def test_text_does_not_flow_from_one_part_to_the_next() -> None:
    """Or an attempt could be made to share the fingerprint of another."""
    one, other = (
        Attempt(workspace, response(0), IdempotencyKey(text), "")
        for workspace, text in (("a", "b"), ("a" + response(0).text, "b"))
    )
    assert fingerprints_for(STREAM, one)[1] != fingerprints_for(STREAM, other)[1]
