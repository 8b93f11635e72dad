"""Hypothesis strategies, all in one place."""

from __future__ import annotations

from hypothesis import strategies as st

from resolution_ledger import IdempotencyKey
from resolution_ledger.domain.events import Attempt
from samples import OTHER_WORKSPACE, WORKSPACE, key, response

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
labels = texts
idempotency_keys = texts.filter(bool).map(IdempotencyKey)
ticks = st.integers(-(2**63), 2**63 - 1)

# Few of each, so that attempts meet: same response, same key, other workspace.
attempts = st.builds(
    Attempt,
    st.sampled_from([WORKSPACE, WORKSPACE, OTHER_WORKSPACE]),
    st.integers(0, 3).map(response),
    st.integers(0, 3).map(key),
    labels,
)

# What a record may hold, apart from links.
plain_records = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
    | st.binary(),
    lambda inner: st.lists(inner, max_size=5)
    | st.dictionaries(
        st.text(st.characters(codec="utf-8")).filter(lambda name: name != "/"), inner, max_size=5
    ),
    max_leaves=20,
)
