"""Hypothesis strategies, all in one place."""

from __future__ import annotations

from base64 import b32encode
from typing import get_args

from hypothesis import strategies as st

from resolution_ledger import ContentId, IdempotencyKey, ResponseId
from resolution_ledger.domain.events import (
    EVENT_TYPES,
    Attempt,
    Event,
    Withdrawal,
    WithdrawalEvent,
)
from resolution_ledger.domain.records import Reason
from samples import OTHER_WORKSPACE, WORKSPACE, key, response

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
labels = texts
idempotency_keys = texts.filter(bool).map(IdempotencyKey)
ticks = st.integers(-(2**63), 2**63 - 1)

workspaces = st.sampled_from([WORKSPACE, WORKSPACE, OTHER_WORKSPACE])
reasons: st.SearchStrategy[Reason] = st.sampled_from(get_args(Reason))

# Few of each, so that attempts meet: same response, same key, other workspace.
attempts = st.builds(
    Attempt, workspaces, st.integers(0, 3).map(response), st.integers(0, 3).map(key), labels
)
withdrawals = st.builds(Withdrawal, workspaces, reasons, labels)
causes = attempts | withdrawals

# What a record may hold, apart from links.
plain_records = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.text(st.characters(codec="utf-8")).filter(lambda name: name != "/"),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


# What a record may hold, links included.
records = st.recursive(
    plain_records | st.integers(0, 9).map(ContentId.mint),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "aa", "\u00e9", ""]), inner)
    ),
    max_leaves=8,
)


def _id_text(digest: bytes) -> str:
    """The canonical spelling of the id with this digest, made without the library."""
    binary = b"\x01\x71\x1e\x20" + digest
    return "b" + b32encode(binary).decode().rstrip("=").lower()


digests = st.binary(min_size=32, max_size=32)
id_texts = digests.map(_id_text)


@st.composite
def near_id_texts(draw: st.DrawFn) -> str:
    """Canonical spellings with one character replaced, deleted, inserted or in upper case."""
    text = draw(id_texts)
    # The fixed start and the padding at the end are where a check could be too generous.
    at = draw(st.integers(0, len(text) - 1) | st.sampled_from([0, 6, 7, len(text) - 1]))
    character = draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz234567") | st.characters())
    changed = draw(st.sampled_from([character, "", text[at] + character, text[at].upper()]))
    return text[:at] + changed + text[at + 1 :]


_any_attempts = st.builds(
    Attempt, texts.filter(bool), id_texts.map(ResponseId), idempotency_keys, labels
)
_any_withdrawals = st.builds(Withdrawal, texts.filter(bool), reasons, labels)


def _events_of(event_type: type[Event]) -> st.SearchStrategy[Event]:
    """Those of one kind: an attempt leads to some, a withdrawal to the others."""
    withdrawn = issubclass(event_type, WithdrawalEvent)
    return st.builds(event_type, _any_withdrawals if withdrawn else _any_attempts, ticks)


# Of any kind, related to no other event: what the codec must be able to store.
events: st.SearchStrategy[Event] = st.sampled_from([*EVENT_TYPES.values()]).flatmap(_events_of)
