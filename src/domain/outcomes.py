"""What an attempt or withdrawal is told. Losing is an ordinary answer, not an error."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from .ids import InstanceId, ResponseId
from .records import Reason, ResolutionRecord


class Won(Struct, frozen=True):
    """This attempt is the answer. The caller acts, exactly here."""


class Lost(Struct, frozen=True):
    """A response, ``winner``, was committed first. The caller does not act.

    Another one than this attempt's; any at all, where it is a withdrawal that lost.
    """

    winner: ResponseId


class Replayed(Struct, frozen=True):
    """This response has won already.

    ``own`` is True when it won through this very submission (same workspace, response and
    key): whoever lost the reply to its ``Won`` learns here that it had won. It mints no new
    right: act on it only if your own durable record says that you have not acted yet.
    """

    winner: ResponseId
    own: bool


class Withdrawn(Struct, frozen=True):
    """This withdrawal has closed the instance: no answer counts any more."""


class Closed(Struct, frozen=True):
    """The instance was closed before anybody answered it. Nothing may be acted upon.

    ``reason`` is that of the withdrawal that closed it.
    """

    reason: Reason


class ResolutionStore(Protocol):
    """What a surface needs of a ledger: to submit, and to ask who has won.

    ``ResolutionLedger`` is one; it has more for hosts, to close a question and to wait.
    """

    def resolve(self, record: ResolutionRecord) -> Won | Lost | Replayed | Closed:
        """Submit an attempt and learn what it came to."""

    def winner(self, instance: InstanceId) -> ResponseId | None:
        """The response that has won, or None while there is none."""
