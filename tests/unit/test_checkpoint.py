"""Checkpoints as texts: one spelling, and nothing else is taken for one."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable

import pytest

from resolution_ledger import InvalidCheckpoint
from resolution_ledger.infra.checkpoint import Checkpoint

LENGTH = 40

HASH = bytes(range(32))

TEXT = """\
resolution-ledger/00112233445566778899aabbccddeeff
40
AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=
"""

CHECKPOINT = Checkpoint("00112233445566778899aabbccddeeff", LENGTH, HASH)


def test_a_checkpoint_has_one_spelling_that_stays_as_it_is_for_good() -> None:
    """Origin, length and hash, each on a line of its own."""
    assert str(CHECKPOINT) == TEXT
    assert Checkpoint.parse(TEXT) == CHECKPOINT


@pytest.mark.parametrize("length", [0, 1, 9, 10, 2**63 - 1])
@pytest.mark.parametrize("digest", [bytes(32), b"\xff" * 32, HASH[::-1]])
def test_what_is_printed_is_read_again(length: int, digest: bytes) -> None:
    """However long the log is."""
    checkpoint = Checkpoint("f" * 32, length, digest)
    assert Checkpoint.parse(str(checkpoint)) == checkpoint
    assert str(checkpoint).splitlines() == [
        f"resolution-ledger/{'f' * 32}",
        str(length),
        b64encode(digest).decode(),
    ]


@pytest.mark.parametrize(
    "behind", ["\n", "\n\u2014 somebody AAAA==\n", "a fourth line\n\n\u2014 a b\n", "no end", "\0"]
)
def test_what_stands_behind_it_is_left_to_whoever_put_it_there(behind: str) -> None:
    """A signature, for one."""
    assert Checkpoint.parse(TEXT + behind) == CHECKPOINT


CHANGES: dict[str, Callable[[str], str]] = {
    "nothing": lambda _: "",
    "one line": lambda text: text.splitlines()[0],
    "two lines": lambda text: "\n".join(text.splitlines()[:2]) + "\n",
    "no end of the third line": lambda text: text[:-1],
    "other line ends": lambda text: text.replace("\n", "\r\n"),
    "an empty line before it": lambda text: f"\n{text}",
    "a space before it": lambda text: f" {text}",
    "a mark before it": lambda text: f"\ufeff{text}",
    "another origin": lambda text: text.replace("resolution-ledger/", "Resolution-Ledger/"),
    "no origin": lambda text: text.removeprefix("resolution-ledger/"),
    "an origin alone": lambda text: re.sub("/[0-9a-f]{32}", "/", text),
    "an upper-case identity": lambda text: re.sub(
        "/.*", lambda m: m[0].upper() + "A", text, count=1
    ),
    "a longer identity": lambda text: text.replace("\n", "0\n", 1),
    "a space behind the identity": lambda text: text.replace("\n", " \n", 1),
    "no length": lambda text: text.replace(f"\n{LENGTH}\n", "\n\n"),
    "a length that begins with 0": lambda text: text.replace(f"\n{LENGTH}\n", f"\n0{LENGTH}\n"),
    "a length with a sign": lambda text: text.replace(f"\n{LENGTH}\n", f"\n+{LENGTH}\n"),
    "a negative length": lambda text: text.replace(f"\n{LENGTH}\n", f"\n-{LENGTH}\n"),
    "a length in other digits": lambda text: text.replace(f"\n{LENGTH}\n", "\n\u0664\u0660\n"),
    "a length past all": lambda text: text.replace(f"\n{LENGTH}\n", f"\n{'9' * 20}\n"),
    "no hash": lambda text: re.sub("\n[^\n]*\n$", "\n\n", text),
    "a shorter hash": lambda text: re.sub("\n[^\n]*\n$", "\nAAAA\n", text),
    "a longer hash": lambda text: re.sub("\n[^\n]*\n$", f"\n{'A' * 44}\n", text),
    "a hash without its padding": lambda text: text.replace("=\n", "\n"),
    "a hash with other bits in its padding": lambda text: re.sub(
        "\n[^\n]*\n$", f"\n{'A' * 42}B=\n", text
    ),
    "a hash in other letters": lambda text: re.sub("\n[^\n]*\n$", f"\n{'-' * 43}=\n", text),
    "a hash in hex": lambda text: re.sub("\n[^\n]*\n$", f"\n{'0' * 64}\n", text),
    "a space behind the hash": lambda text: text.replace("=\n", "= \n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_text_that_is_no_checkpoint_is_refused(change: Callable[[str], str]) -> None:
    """One that was kept carelessly must not pass for one that fits."""
    changed = change(TEXT)
    assert changed != TEXT
    with pytest.raises(InvalidCheckpoint):
        Checkpoint.parse(changed)


@pytest.mark.parametrize(
    "value", [b"resolution-ledger/", 5, object()], ids=["bytes", "a number", "a thing"]
)
def test_what_is_no_text_is_no_checkpoint(value: object) -> None:
    """Nor is it anything else."""
    with pytest.raises(InvalidCheckpoint):
        Checkpoint.parse(value)  # type: ignore[arg-type]
