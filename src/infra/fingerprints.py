"""How the log finds the few events that an attempt depends on, whatever else is there.

Besides position 1, an attempt (ws, r, k) depends on two kinds of events of its instance:
those that may own k (lost, replayed), and those that record this very submission. A withdrawal
(ws, reason) depends on the latter alone. Every event past position 1 carries one 64-bit
fingerprint, which is indexed:

* lost, replayed: of (instance, k). The rules allow at most two such events for one k: one by
  its owner, one by the winner. So they also tell whether the submission is on record.
* conflicted, fenced, late: of (instance, ws, r, k). At most one such event can be on record.
* withdrawals: of (instance, ws, reason). At most one such event can be on record.

A look-up therefore reads a handful of rows even where there are 100,000 attempts. A
fingerprint decides nothing: the rows that it finds are decoded and folded, and a row that
only shares a fingerprint by chance is one more event of the instance, which does no harm.
Position 1 is found by its place, and its fingerprint is 0.
"""

from __future__ import annotations

from hashlib import blake2b

from ..domain.events import Attempt, AttemptLost, AttemptReplayed, Event, Withdrawal
from ..domain.records import FIRST

NO_FINGERPRINT = 0
_MAY_OWN_A_KEY = {AttemptLost.tag, AttemptReplayed.tag}


def fingerprint_of(stream: str, event: Event) -> int:
    """The fingerprint to store with an event. Part of the storage format."""
    if event.tag in FIRST:
        return NO_FINGERPRINT
    by_key, by_submission = fingerprints_for(stream, event.cause)
    return by_key if event.tag in _MAY_OWN_A_KEY else by_submission


def fingerprints_for(stream: str, cause: Attempt | Withdrawal) -> tuple[int, int]:
    """The fingerprints under which the events that matter to ``cause`` are found.

    That of its key and that of the submission. A withdrawal has no key, and so one fingerprint.
    """
    if isinstance(cause, Attempt):
        key = cause.idempotency_key.text
        return (
            _fingerprint(stream, key),
            _fingerprint(stream, cause.workspace, cause.response.text, key),
        )
    # Twice the same: what it finds is applied twice, which changes nothing. Not the fingerprint
    # of first events, which those of other programs have at every position.
    alone = _fingerprint(stream, cause.workspace, cause.reason)
    return alone, alone


def _fingerprint(*parts: str) -> int:
    # NUL cannot occur in any part, so no two lists of parts give the same bytes. A stream that
    # is damaged beyond UTF-8 is taken as it is stored.
    digest = blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
