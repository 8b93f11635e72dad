"""What is not the one canonical spelling of an id of ours, and how it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from resolution_ledger import ContentId, InstanceId, InvalidId, NonCanonicalId, ResponseId

TEXT = "bafyr4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy"
HEX = "01711e2074a1c68dabb660207c842b9b7dd0953a6a8e8158bb397c5bd4ea9fceda0c4c96"
BASE64 = "AXEeIHShxo2rtmAgfIQrm33QlTpqjoFYuzl8W9Tqn87aDEyW"
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"

KINDS = [InstanceId, ResponseId, ContentId]
Kind = type[InstanceId | ResponseId | ContentId]

OTHER_SPELLINGS = {
    "upper case": TEXT.upper(),
    "mixed case": TEXT[:20] + TEXT[20:].upper(),
    "one capital": TEXT[:-1] + TEXT[-1].upper(),
    "multibase in lower case, the rest in upper case": "b" + TEXT[1:].upper(),
    "leading space": " " + TEXT,
    "trailing space": TEXT + " ",
    "trailing newline": TEXT + "\n",
    "trailing carriage return and newline": TEXT + "\r\n",
    "tab on both sides": f"\t{TEXT}\t",
    "upper case and white space": f" {TEXT.upper()}\n",
    "base16": "f" + HEX,
    "base16 upper case": "F" + HEX.upper(),
    "base32hex": "v05ohs83kk738ratmc0g7p11bjdut159qda782m5r75u5nl7ajv7dk32cio",
    "base32 with padding": "c" + TEXT[1:] + "======",
    "base36": "k2jw7pp9mqip712exjm1oy27rl3blitdnxmnq6h25335v0cgus69suxi",
    "base36 upper case": "K2JW7PP9MQIP712EXJM1OY27RL3BLITDNXMNQ6H25335V0CGUS69SUXI",
    "base58btc": "zdqAuTbjR63orHV4JniRh14cTh8rPgNsWZ8QLesoj6P2oid3j",
    "base64": "m" + BASE64,
    "base64url": "u" + BASE64,
    "a path to it": f"/ipfs/{TEXT}",
}

NO_ID_OF_OURS: dict[str, Any] = {
    "empty": "",
    "nothing but its multibase": "b",
    "nothing but white space": " \n",
    "codec dag-pb": "bafyb4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy",
    "codec raw": "bafkr4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy",
    "codec raw in upper case": "BAFKR4IDUUHDI3K5WMAQHZBBLTN65BFJ2NKHICWF3HF6FXVHKT7HNUDCMSY",
    "hash sha2-256": "bafyreiduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy",
    "hash of 16 bytes": "bafyr4eduuhdi3k5wmaqhzbbltn65bfj2",
    "hash of 33 bytes": "bafyr4iluuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmszqq",
    "version 0": "QmWBw5TRnmjqXSLvEipV7zu23gkdgcQj7SuDAf94o3RG1T",
    "version 2": "bajyr4iduuhdi3k5wmaqhzbbltn65bfj2nkhicwf3hf6fxvhkt7hnudcmsy",
    "version in two bytes": "bqeahchraosq4ndnlwzqca7eefonx3uevhjvi5akyxm4xyw6u5kp45wqmjsla",
    "base58btc in lower case": "zdqautbjr63orhv4jnirh14cth8rpgnswz8qlesoj6p2oid3j",
    "Cyrillic a": TEXT.replace("a", "\u0430"),
    "full-width a": TEXT.replace("a", "\uff41"),
    "Arabic-Indic digit": TEXT.replace("2", "\u0662"),
    "zero for o": TEXT.replace("q", "0"),
    "zero-width space inside": TEXT[:9] + "\u200b" + TEXT[9:],
    "white space inside": f"{TEXT[:9]} {TEXT[9:]}",
    "byte order mark": "\ufeff" + TEXT,
    "without its multibase": TEXT[1:],
    "a lone surrogate": "\ud800",
    "a lone surrogate at the end": TEXT + "\udfff",
    "None": None,
    "an integer": 1,
    "bytes": TEXT.encode(),
    "a list": [TEXT],
    "an id of another kind": ContentId(TEXT),
    "a number too long to print": 10**5000,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spelling", OTHER_SPELLINGS.values(), ids=OTHER_SPELLINGS)
def test_another_spelling_is_refused_and_says_which_is_canonical(spelling: str, kind: Kind) -> None:
    """Two strings must never name one record."""
    with pytest.raises(NonCanonicalId) as refusal:
        kind.parse(spelling)
    assert refusal.value.canonical == TEXT
    assert refusal.value.text == spelling


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", NO_ID_OF_OURS.values(), ids=NO_ID_OF_OURS)
def test_what_names_no_id_of_ours_is_refused(value: Any, kind: Kind) -> None:
    """As an invalid id, not as another spelling of a valid one."""
    if isinstance(value, ContentId) and kind is ContentId:
        value = InstanceId(TEXT)
    with pytest.raises(InvalidId) as refusal:
        kind.parse(value)
    assert type(refusal.value) is InvalidId
    assert refusal.value.text is value


@pytest.mark.parametrize("length", range(len(TEXT)))
def test_a_truncated_id_is_refused(length: int) -> None:
    """Wherever it was cut."""
    with pytest.raises(InvalidId) as refusal:
        InstanceId.parse(TEXT[:length])
    assert type(refusal.value) is InvalidId


@pytest.mark.parametrize("character", [*ALPHABET, "A", "0", "=", ".", "/", "#", "\0", "\u00e9"])
def test_an_id_with_a_character_more_is_refused(character: str) -> None:
    """Even where a lenient decoder would ignore it."""
    with pytest.raises(InvalidId) as refusal:
        InstanceId.parse(TEXT + character)
    assert type(refusal.value) is InvalidId


@pytest.mark.parametrize("character", ALPHABET)
@pytest.mark.parametrize(
    ("at", "allowed"),
    [
        pytest.param(6, "i", id="the last of the fixed six"),
        pytest.param(7, "abcdefgh", id="the first: two fixed bits and three of the digest"),
        pytest.param(8, ALPHABET, id="within the digest"),
        pytest.param(58, "aeimquy4", id="the last: three bits of the digest and two of padding"),
    ],
)
def test_bits_that_are_not_of_the_digest_cannot_be_chosen(
    at: int, allowed: str, character: str
) -> None:
    """The padding must be zero, and what is fixed must be as it is."""
    spelling = TEXT[:at] + character + TEXT[at + 1 :]
    if character in allowed:
        assert InstanceId.parse(spelling).text == spelling
    else:
        with pytest.raises(InvalidId):
            InstanceId.parse(spelling)


@pytest.mark.parametrize("kind", KINDS)
def test_the_constructor_refuses_what_parse_refuses(kind: Kind) -> None:
    """There is no way around the check."""
    with pytest.raises(NonCanonicalId):
        kind(TEXT.upper())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT.replace("k", "\u212a"), id="Kelvin sign, which lower-cases to k"),
        pytest.param(TEXT + TEXT, id="twice: the library ignores bytes after a CID"),
        pytest.param(f"https://example.org/ipfs/{TEXT}", id="a URL"),
    ],
)
def test_what_only_a_lenient_reader_takes_for_an_id_is_refused(text: str) -> None:
    """Whether as no id or as another spelling of one does not matter here."""
    with pytest.raises(InvalidId):
        InstanceId.parse(text)
