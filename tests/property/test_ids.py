"""Ids: the pattern that we check is exactly the library's set of canonical spellings."""

from __future__ import annotations

from content_addressable import ContentId as Cid
from hypothesis import example, given
from hypothesis import strategies as st

import strategies
from resolution_ledger import ContentId, InvalidId, NonCanonicalId

TEXT = "bafyr4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy"


def accepted(text: str) -> bool:
    """Whether we take the text for an id."""
    try:
        return ContentId.parse(text).text == text
    except InvalidId:
        return False


def spelled_so_by_the_library(text: str) -> bool:
    """Whether the library reads it, and writes it again just so."""
    try:
        return str(Cid.parse(text)) == text
    except ValueError:
        return False


@given(strategies.digests)
def test_the_library_and_we_spell_a_digest_alike(digest: bytes) -> None:
    """From the text to the bytes of the CID and back."""
    cid = Cid.from_dag_cbor_digest(digest)
    ours = ContentId.parse(str(cid))
    assert ours.text == str(cid)
    assert bytes(ours) == bytes(cid.to_bytes())


@given(strategies.id_texts)
def test_every_canonical_spelling_is_accepted(text: str) -> None:
    """Made here without the library."""
    assert accepted(text)
    assert spelled_so_by_the_library(text)


@given(strategies.near_id_texts() | st.text())
@example(TEXT)
@example(TEXT[:-1] + "z")
@example(TEXT[:7] + "7" + TEXT[8:])
@example(TEXT + "\n")
@example("\ud800")
def test_we_accept_exactly_what_the_library_spells_so(text: str) -> None:
    """Nothing more and nothing less."""
    assert accepted(text) is spelled_so_by_the_library(text)


@given(strategies.near_id_texts())
def test_a_refusal_names_another_spelling_only_where_there_is_one(text: str) -> None:
    """And the spelling that it names is accepted."""
    canonical = None
    try:
        ContentId.parse(text)
    except NonCanonicalId as refusal:
        canonical = refusal.canonical
    except InvalidId:
        assert not accepted(text.lower())
    assert canonical is None or (canonical != text and accepted(canonical))
