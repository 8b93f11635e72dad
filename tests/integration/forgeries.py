"""Ways to forge an export: those that it shows itself, and those that it cannot show."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode

from integration.exports import (
    LENGTH,
    Export,
    changed,
    number_of,
    rehashed,
    renumbered,
    spelled,
    state_of,
)
from integration.forging import (
    EXPIRED,
    WITHDRAWN,
    Forge,
    at,
    first,
    last_won,
    one_more,
    saying,
    then_hashed,
    written,
)
from samples import instance, response


def _other_tick(export: Export) -> Export:
    state = state_of(export[20])
    return at(20, state=b64encode(state[:-1] + bytes([state[-1] ^ 1])).decode())(export)


def _padding_with_a_bit(field: str) -> Forge:
    """The same bytes, but a bit is set that belongs to none of them."""

    def forge(export: Export) -> Export:
        number = next(
            n for n, line in enumerate(export) if n and json.loads(line)[field][-1] == "="
        )
        text = json.loads(export[number])[field]
        digits = text.rstrip("=")
        other = digits[:-1] + _BASE64[_BASE64.index(digits[-1]) ^ 1] + text[len(digits) :]
        assert b64decode(other) == b64decode(text)
        return at(number, **{field: other})(export)

    return forge


def _without_padding(export: Export) -> Export:
    return at(14, hash=json.loads(export[14])["hash"].rstrip("="))(export)


def _fields_turned_round(export: Export) -> Export:
    other = spelled(dict(reversed(json.loads(export[14]).items())))
    return [*export[:14], other, *export[15:]]


def _without_position_two(export: Export) -> Export:
    """An instance goes on at position 3, and all sequences and hashes fit."""
    stream = json.loads(export[number_of(export, position=3)])["stream"]
    gone = number_of(export, stream=stream, position=2)
    rest = [*export[1:gone], *export[gone + 1 :]]
    return rehashed([export[0], *(changed(line, sequence=n) for n, line in enumerate(rest, 1))])


def _without_its_win(export: Export) -> Export:
    """The first that was recorded of an instance is a loser, and all numbers and hashes fit."""
    stream = json.loads(export[number_of(export, tag="lost")])["stream"]
    win = number_of(export, stream=stream, position=1)
    return renumbered([*export[:win], *export[win + 1 :]])


_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NO_HASH = b64encode(bytes(32)).decode()
_STRANGER = instance(77).text
_OPEN = {"stream": _STRANGER, "position": 1}

TAMPERED: dict[str, Forge] = {
    "a byte of a state": saying(6, b"key-", b"kez-"),
    "a byte of a withdrawal's state": saying(9, b"withdrawn", b"withdraws"),
    "a tick": _other_tick,
    "a tag": first("lost", tag="replayed"),
    "a stream": at(12, stream=_STRANGER, position=1),
    "a position": lambda export: at(number_of(export, position=2), position=3)(export),
    "a sequence": at(30, sequence=31),
    "a hash": at(30, hash=_NO_HASH),
    "the hash of the last event": at(LENGTH, hash=_NO_HASH),
    "a line left out": lambda export: [*export[:25], *export[26:]],
    "the first event left out": lambda export: [export[0], *export[2:]],
    "the last event left out": lambda export: export[:-1],
    "all events left out": lambda export: export[:1],
    "the first line left out": lambda export: export[1:],
    "all lines left out": lambda _: [],
    "a line twice": lambda export: [*export[:18], export[17], *export[18:]],
    "the whole log twice": lambda export: [*export, *export[1:]],
    "two lines swapped": lambda export: [*export[:33], export[34], export[33], *export[35:]],
    "a line inserted": lambda export: [
        *export[:50],
        changed(export[50], stream=_STRANGER, position=1, tag="won"),
        *export[50:],
    ],
    "a line of something else": lambda export: [*export[:22], b"\xff garbage\n", *export[22:]],
    "an empty line": lambda export: [*export[:22], b"\n", *export[22:]],
    "an empty line at the end": lambda export: [*export, b"\n"],
    "a line without an end": lambda export: [*export[:22], b"[" * 200_000, *export[22:]],
    "half of the last line": lambda export: [*export[:-1], export[-1][:100]],
    "all but the end of the last line": lambda export: [*export[:-1], export[-1][:-1]],
    "the identity of the ledger": at(0, ledger="00112233445566778899aabbccddeeff"),
    "the length in the first line": at(0, length=LENGTH + 1),
    "the hash in the first line": at(0, hash=_NO_HASH),
    "the version in the first line": at(0, version=2),
    "a version that is true": written(0, b'"version":1', b'"version":true'),
    "a number with a fraction": written(14, b'"sequence":14', b'"sequence":14.0'),
    "a number that is a text": written(14, b'"sequence":14', b'"sequence":"14"'),
    "a number behind a zero": written(14, b'"sequence":14', b'"sequence":014'),
    "a length behind a zero": written(0, b'"length":', b'"length":0'),
    "another field": at(14, note="approved"),
    "a field missing": written(14, b'"tag":"', b'"gat":"'),
    "a field twice": written(14, b'{"sequence":14', b'{"sequence":13,"sequence":14'),
    "fields in another order": _fields_turned_round,
    "a blank": written(14, b'"sequence":14', b'"sequence": 14'),
    "another end of the line": written(14, b"\n", b"\r\n"),
    "an escaped letter": written(14, b'"tag"', b'"\\u0074ag"'),
    "a hash with a bit in its padding": _padding_with_a_bit("hash"),
    "a state with a bit in its padding": _padding_with_a_bit("state"),
    "base64 without padding": _without_padding,
    "base64 with something else in it": written(14, b'"state":"', b'"state":"\\n'),
    "a state that is empty": at(14, state=""),
    "all hashed anew, a gap in the positions": _without_position_two,
    "all hashed anew, a gap in the sequences": then_hashed(at(LENGTH, sequence=LENGTH + 1)),
    "all hashed anew, a second win": then_hashed(first("lost", tag="won")),
    "all hashed anew, no win": _without_its_win,
    "all hashed anew, a second closing": then_hashed(first("withdrawal-late", tag="closed")),
    "all hashed anew, a closing after a win": then_hashed(first("withdrawal-lost", tag="closed")),
    "all hashed anew, a loss of what is open": then_hashed(first("lost", **_OPEN)),
    "all hashed anew, too late for what is open": then_hashed(first("late", **_OPEN)),
    "all hashed anew, a withdrawal lost that was first": then_hashed(
        first("withdrawal-lost", **_OPEN)
    ),
    "all hashed anew, adopted too late": then_hashed(last_won(tag="adopted")),
    "all hashed anew, an unknown tag": then_hashed(first("lost", tag="drawn")),
    "all hashed anew, a stream that is no id": then_hashed(last_won(stream="question")),
    "all hashed anew, an identity that is none": then_hashed(at(0, ledger="ledger")),
}
"""What the export itself shows. Where nothing is said of hashes, they are as they were."""


def _without_an_instance(tag: str) -> Forge:
    def forge(export: Export) -> Export:
        stream = json.loads(export[number_of(export, tag=tag)])["stream"].encode()
        return renumbered([line for line in export if stream not in line])

    return forge


def _reasons_exchanged(export: Export) -> Export:
    """Everywhere: by the rules, one is as good as the other."""
    for number in range(1, len(export)):
        tag, state = json.loads(export[number])["tag"], state_of(export[number])
        if tag == "closed" or tag.startswith("withdrawal-"):
            reasons = (EXPIRED, WITHDRAWN) if EXPIRED in state else (WITHDRAWN, EXPIRED)
            export = saying(number, *reasons)(export)
    return export


def _another_winner(export: Export) -> Export:
    """The winner of an instance is another one, and whoever lost to it was never there."""
    won = number_of(export, tag="won")
    stream = json.loads(export[won])["stream"].encode()
    kept = [line for n, line in enumerate(export) if stream not in line or n == won]
    winner = re.findall(rb"bafyr4i[a-z2-7]{52}", state_of(export[won]))[0]
    return renumbered(saying(won, winner, response(77).text.encode())(kept))


UNNOTICED: dict[str, Forge] = {
    "the last event cut off": lambda export: rehashed(export[:-1]),
    "ten events cut off": lambda export: rehashed(export[:-10]),
    "all events cut off": lambda export: rehashed(export[:1]),
    "another tick": then_hashed(_other_tick),
    "another winner": _another_winner,
    "an instance left out": _without_an_instance("won"),
    "a closed instance left out": _without_an_instance("closed"),
    "a closing made up": one_more("closed", stream=_STRANGER),
    "another reason everywhere": then_hashed(_reasons_exchanged),
    "another identity": then_hashed(at(0, ledger="00112233445566778899aabbccddeeff")),
}
"""What only a checkpoint shows, since by the rules it could have happened so."""

WRONG_STATES: dict[str, Forge] = {
    "a loss that was a replay": then_hashed(first("lost", tag="replayed")),
    "a loss that was too late": then_hashed(first("late", tag="lost")),
    "too late for what was lost": then_hashed(first("lost", tag="late")),
    "a withdrawal lost that was late": then_hashed(first("withdrawal-late", tag="withdrawal-lost")),
    "a withdrawal late that was lost": then_hashed(first("withdrawal-lost", tag="withdrawal-late")),
    "a withdrawal lost that was fenced": then_hashed(
        first("withdrawal-fenced", tag="withdrawal-lost")
    ),
    "a withdrawal fenced that was lost": then_hashed(
        first("withdrawal-lost", tag="withdrawal-fenced")
    ),
    "a withdrawal twice": one_more("withdrawal-lost"),
    "late for the reason that closed it": then_hashed(saying(10, WITHDRAWN, EXPIRED)),
    "a reason that is none": then_hashed(saying(5, EXPIRED, b"\xa7expires")),
    "a closing with a win's bytes": lambda export: rehashed(
        at(5, state=json.loads(export[7])["state"])(export)
    ),
    "a win with a closing's bytes": lambda export: rehashed(
        at(7, state=json.loads(export[5])["state"])(export)
    ),
    "a state that is nothing": then_hashed(at(14, state=b64encode(b"state").decode())),
    "a response that is no id": then_hashed(saying(14, b"bafyr4i", b"BAFYR4I")),
    "an attempt twice": lambda export: renumbered([*export, export[-1]]),
}
"""What shows only to those who read what the events say."""
