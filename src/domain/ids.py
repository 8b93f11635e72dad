"""Content ids: the names of instances, responses and whatever else a record links to.

An id is a CIDv1 over canonical DAG-CBOR with BLAKE3-256, in lower-case base32
(https://github.com/multiformats/cid). Its 36 bytes are ``01 71 1e 20`` and the digest:
version 1, codec dag-cbor, hash blake3, 32 bytes.
"""

from __future__ import annotations

import re
from typing import Self

from msgspec import Struct
from msgspec.structs import force_setattr

from .dagcbor import encode
from .errors import InvalidId, NonCanonicalId

# 36 bytes are 57.6 base32 digits. The four fixed bytes fill six digits and two bits of the
# seventh; the last digit carries three bits of the digest and two bits of zero padding.
# So this pattern is exactly the set of canonical spellings; a property test holds it
# against the library that mints.
_is_canonical = re.compile("bafyr4i[a-h][a-z2-7]{50}[aeimquy4]", re.ASCII).fullmatch


class _Cid(Struct, frozen=True, gc=False):
    """What the three kinds of id share. Ids of different kinds are never equal."""

    text: str

    def __post_init__(self) -> None:
        text = self.text
        if type(text) is str and _is_canonical(text):
            return  # nearly always
        if not isinstance(text, str):
            raise InvalidId(text, "not text")
        text = str.__str__(text)  # a subclass could compare or print otherwise
        if not _is_canonical(text):
            raise _refusal(text)
        force_setattr(self, "text", text)

    def __str__(self) -> str:
        return self.text

    def __bytes__(self) -> bytes:
        """The binary form of the CID, as a link in DAG-CBOR carries it."""
        from content_addressable import ContentId as Cid

        return bytes(Cid.parse(self.text).to_bytes())

    @classmethod
    def parse(cls, text: str) -> Self:
        """The id that ``text`` is the canonical spelling of.

        :raises NonCanonicalId: if it is another spelling of such an id.
        :raises InvalidId: if it is anything else.
        """
        return cls(text)

    @classmethod
    def mint(cls, record: object) -> Self:
        """The id of a record: None, bool, int, float, str, bytes, list, dict and ids (links).

        :raises InvalidRecord: if the record has no canonical DAG-CBOR form.
        """
        # Imported here: whoever only reads ids should not pay for loading it.
        from content_addressable import ContentId as Cid

        return cls(str(Cid.from_canonical_bytes(encode(record, link_type=_Cid))))


class InstanceId(_Cid, frozen=True, gc=False):
    """Names one pending question."""


class ResponseId(_Cid, frozen=True, gc=False):
    """Names one answer to a question."""


class ContentId(_Cid, frozen=True, gc=False):
    """Names anything else that a record links to."""


def _refusal(text: str) -> InvalidId:
    """Why ``text`` is not a canonical spelling: a different name, or no such name at all."""
    from content_addressable import ContentId as Cid

    for spelling in (text, text.strip()):  # white space is what gets in by accident
        try:
            canonical = str(Cid.parse(spelling))
        except ValueError:  # UnicodeEncodeError (lone surrogates) is one too
            continue
        if _is_canonical(canonical):
            return NonCanonicalId(text, canonical)
    return InvalidId(text, "not a CIDv1 of dag-cbor and BLAKE3-256 in lower-case base32")
