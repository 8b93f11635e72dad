"""The hash chain: part of the storage format, so the same for good, and complete."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import chains
from chains import Event
from resolution_ledger.infra.chain import Head, link, origin
from samples import instance

LEDGER_ID = "00112233445566778899aabbccddeeff"
STREAM = "bafyr4iccsitnchfwc73mhvdfi63dk5trdrzpl6i4uljru6a7527ege35ji"

# Of LEDGER_ID, then of LOG, one after the other.
ORIGIN = "b4defc2804f8e46d2c12ada737a47c28c37d41e1ced2d5d22e8a93491feaa030"
LOG: dict[str, Event] = {
    "8cd41a6f392e3696863108988130cbd20401d8bd1cdf17ddff34e7b5e4f855e4": (
        (1, STREAM, 1, "won", b"\x00\xff")
    ),
    "70bf034c5f9c81b7805ade4f7d2e5615c64115bc7d33c8d66682617507ac98e2": (2, "", -1, "", b""),
}

PREVIOUS = bytes(range(32))
EVENT: Event = (7, "stream", 3, "lost", b"state")


def linked(events: list[Event], ledger_id: str = LEDGER_ID) -> list[bytes]:
    """The hashes of a whole log."""
    chain = [origin(ledger_id).hash]
    for event in events:
        chain.append(link(chain[-1], *event))
    return chain[1:]


def test_the_hashes_are_those_that_they_always_were() -> None:
    """Down to the identity of the ledger."""
    assert instance(0).text == STREAM
    assert origin(LEDGER_ID) == Head(0, bytes.fromhex(ORIGIN))
    assert [digest.hex() for digest in linked([*LOG.values()])] == [*LOG]


def test_the_hashes_are_those_that_the_description_gives() -> None:
    """As somebody else would compute them, from the bytes."""
    assert origin(LEDGER_ID).hash == chains.origin(LEDGER_ID)
    assert linked([*LOG.values(), EVENT]) == chains.hashes(LEDGER_ID, [*LOG.values(), EVENT])


@pytest.mark.parametrize("other", ["", LEDGER_ID.upper(), LEDGER_ID[:-1], f"{LEDGER_ID}\n"])
def test_ledgers_begin_with_their_identity(other: str) -> None:
    """So that no event of one is taken for an event of another."""
    assert origin(other).hash == chains.origin(other) != origin(LEDGER_ID).hash
    events = [*LOG.values(), EVENT]
    assert not set(linked(events, other)) & set(linked(events))


OTHERS: dict[str, tuple[bytes, Event]] = {
    "previous": (bytes(32), EVENT),
    "one bit of previous": (b"\x80" + PREVIOUS[1:], EVENT),
    "sequence": (PREVIOUS, (8, "stream", 3, "lost", b"state")),
    "sign of sequence": (PREVIOUS, (-7, "stream", 3, "lost", b"state")),
    "stream": (PREVIOUS, (7, "Stream", 3, "lost", b"state")),
    "position": (PREVIOUS, (7, "stream", 4, "lost", b"state")),
    "sequence and position": (PREVIOUS, (3, "stream", 7, "lost", b"state")),
    "tag": (PREVIOUS, (7, "stream", 3, "won", b"state")),
    "stream and tag": (PREVIOUS, (7, "lost", 3, "stream", b"state")),
    "state": (PREVIOUS, (7, "stream", 3, "lost", b"State")),
    "a zero more": (PREVIOUS, (7, "stream", 3, "lost", b"state\0")),
    "no state": (PREVIOUS, (7, "stream", 3, "lost", b"")),
}


@pytest.mark.parametrize(("previous", "event"), OTHERS.values(), ids=OTHERS)
def test_whatever_differs_makes_another_hash(previous: bytes, event: Event) -> None:
    """Nothing that an event vouches for is left out."""
    assert link(previous, *event) != link(PREVIOUS, *EVENT)
    assert link(previous, *event) == chains.link(previous, event)


# A position that reads as text, so that only the lengths tell where the stream ends.
AAAAAAAA = int.from_bytes(b"AAAAAAAA")

NEIGHBOURS: dict[str, tuple[Event, Event]] = {
    "from stream to tag": ((7, "sA", AAAAAAAA, "t", b"z"), (7, "s", AAAAAAAA, "At", b"z")),
    "from tag to state": ((7, "s", 3, "lost", b"state"), (7, "s", 3, "los", b"tstate")),
    "all of the tag": ((7, "s", 3, "lost", b"state"), (7, "s", 3, "", b"loststate")),
    "all of the state": ((7, "s", 3, "lost", b"state"), (7, "s", 3, "loststate", b"")),
}


@pytest.mark.parametrize(("one", "other"), NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_bytes_do_not_flow_from_one_part_to_the_next(one: Event, other: Event) -> None:
    """Or an event could be made to stand for another."""
    assert run_together(one) == run_together(other)
    assert link(PREVIOUS, *one) != link(PREVIOUS, *other)


def run_together(event: Event) -> bytes:
    """The parts of an event with nothing to tell where each ends."""
    sequence, stream, position, tag, state = event
    numbers = [number.to_bytes(8, signed=True) for number in (sequence, position)]
    return b"".join([numbers[0], stream.encode(), numbers[1], tag.encode(), state])


TAMPERING: dict[str, Callable[[list[Event]], list[Event]]] = {
    "changed": lambda log: [*log[:3], (4, "stream", 4, "lost", b"other"), *log[4:]],
    "removed": lambda log: [*log[:3], *log[4:]],
    "removed, and the gap closed": lambda log: [*log[:3], *map(moved_down, log[4:])],
    "added": lambda log: [*log[:3], (4, "other", 1, "won", b"4"), *log[3:]],
    "doubled": lambda log: [*log[:3], log[2], *log[3:]],
    "swapped": lambda log: [*log[:3], log[4], log[3], *log[5:]],
}


def moved_down(event: Event) -> Event:
    """The event one sequence and position earlier."""
    sequence, stream, position, tag, state = event
    return sequence - 1, stream, position - 1, tag, state


@pytest.mark.parametrize("tamper", TAMPERING.values(), ids=TAMPERING)
def test_whoever_tampers_with_an_event_changes_every_hash_from_there_on(
    tamper: Callable[[list[Event]], list[Event]],
) -> None:
    """And none before it."""
    log: list[Event] = [(n, "stream", n, "lost", b"%d" % n) for n in range(1, 9)]
    sound, forged = linked(log), linked(tamper(log))
    assert forged[:3] == sound[:3]
    assert not set(forged[3:]) & set(sound)


LEAST, GREATEST = -(2**63), 2**63 - 1


@pytest.mark.parametrize("number", [LEAST, -1, 0, GREATEST])
def test_a_number_may_have_64_bits(number: int) -> None:
    """As many as a column of the log."""
    for event in ((number, *EVENT[1:]), (*EVENT[:2], number, *EVENT[3:])):
        assert link(PREVIOUS, *event) == chains.link(PREVIOUS, event)


@pytest.mark.parametrize("number", [LEAST - 1, GREATEST + 1, 2**64, 10**30])
def test_a_number_past_64_bits_is_refused(number: int) -> None:
    """It is never cut to what fits."""
    for event in ((number, *EVENT[1:]), (*EVENT[:2], number, *EVENT[3:])):
        with pytest.raises(OverflowError):
            link(PREVIOUS, *event)


@pytest.mark.parametrize("word", ["\u00e9", "\u65e5\u672c", "\U0001f600", "a\0b"])
def test_the_length_of_a_text_is_that_of_its_bytes(word: str) -> None:
    """In UTF-8."""
    event: Event = (1, word, 1, word, word.encode())
    assert link(PREVIOUS, *event) == chains.link(PREVIOUS, event)


@pytest.mark.parametrize("damaged", [b"\xff", b"a\xc3", b"\xed\xa0\x80"])
def test_text_that_is_no_text_any_more_is_hashed_as_it_is_stored(damaged: bytes) -> None:
    """Damage makes another hash; it does not keep the chain from being looked at."""
    text = damaged.decode(errors="surrogateescape")
    event: Event = (1, text, 1, text, damaged)
    assert link(PREVIOUS, *event) == chains.link(PREVIOUS, event)
