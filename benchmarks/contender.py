"""What the benchmark asks of everybody who decides which response wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionRecord,  # (mypy does not find an editable installation)
)

from .measurements import Durability, timed
from .submissions import Minter

PATIENCE = 60.0
"""Seconds that a call waits for others: nobody is to give up."""

_WARM_UP = 1200


@dataclass(frozen=True)
class Contender:
    """One way to decide, opened on a file.

    Submissions and instances have whatever form the contender takes. They are prepared
    untimed: only ``resolve`` and ``winner`` themselves are timed.
    """

    name: str
    submission: Callable[[ResolutionRecord], Any]
    """The form in which ``resolve`` takes a record."""
    instance: Callable[[ResolutionRecord], Any]
    """The form in which ``winner`` takes the record's instance."""
    resolve: Callable[[Any], Any]
    winner: Callable[[Any], Any]
    """The response that won; its ``str`` is the response's text."""
    outcome: Callable[[Any], str]
    """What an answer of ``resolve`` means: "won", "lost" or "replayed"."""


class Kind(NamedTuple):
    """How a contender is opened."""

    name: str
    open: Callable[[Path, Durability], AbstractContextManager[Contender]]
    """On the file at a path, which is made if it is not there."""
    shared: bool
    """Whether the threads of a process share one; or else each opens its own."""
    most: int
    """Wins a second that it will hardly ever reach: so many submissions are prepared."""


class WrongAnswer(Exception):
    """A contender did not do what was timed: its times mean nothing."""


def warm_up(contender: Contender, minter: Minter) -> None:
    """Have the contender decide a number of first attempts, untimed.

    They take its write-ahead log past its first checkpoint (a ledger's comes after 4,000 pages
    and some 1,000 wins, a plain table's after 1,000 pages), after which the file is written over
    and no longer grows: a commit that makes a file longer costs the file system more, and in a
    file that is used for long it is the exception.
    """
    time_resolve(contender, minter.first_attempts(_WARM_UP), "won")


def time_resolve(contender: Contender, records: Sequence[ResolutionRecord], expected: str) -> float:
    """Microseconds a call of ``resolve`` with each of ``records``.

    :raises WrongAnswer: if an answer was not the ``expected`` one.
    """
    submissions = [contender.submission(record) for record in records]
    took, answers = timed(contender.resolve, submissions)
    for answer in answers:
        outcome = contender.outcome(answer)
        if outcome != expected:
            raise WrongAnswer(f"{contender.name}: {outcome} instead of {expected}")
    return took


def time_winner(contender: Contender, records: Sequence[ResolutionRecord]) -> float:
    """Microseconds a call of ``winner`` with the instance of each of ``records``.

    :raises WrongAnswer: if an answer was not the response of the record.
    """
    instances = [contender.instance(record) for record in records]
    took, winners = timed(contender.winner, instances)
    for winner, record in zip(winners, records, strict=True):
        if str(winner) != record.response.text:
            raise WrongAnswer(f"{contender.name}: {winner} instead of {record.response}")
    return took
