"""The same rules as an aggregate of the ``eventsourcing`` package, the way its guide shows."""

from __future__ import annotations

from typing import Literal, NamedTuple
from uuid import UUID

from eventsourcing.domain import Aggregate, event

Outcome = Literal["won", "lost", "replayed", "conflicted", "fenced"]


class Answer(NamedTuple):
    """What an attempt came to, and who won."""

    outcome: Outcome
    winner: str


class Interaction(Aggregate):
    """One instance, from the event that resolved it on."""

    @event("ResolutionWon")
    def __init__(  # noqa: PLR0913, PLR0917 - what it takes is what its event holds
        self,
        id: UUID,  # noqa: A002 - the package's name for it
        instance: str,
        workspace: str,
        response: str,
        key: str,
        submitted_by: str,
    ) -> None:
        del id, submitted_by  # in the event only
        self.instance = instance
        self.workspace = workspace
        self.winner = response
        self.key_owners = {key: response}
        self.on_record = {(workspace, response, key)}

    def attempt(self, workspace: str, response: str, key: str, submitted_by: str) -> Answer:
        """Decide an attempt on the resolved instance; trigger an event unless it is on record."""
        is_new = (workspace, response, key) not in self.on_record
        if workspace != self.workspace:
            if is_new:
                self.fence(workspace, response, key, submitted_by)
            return Answer("fenced", "")
        if response == self.winner:
            if is_new:
                self.replay(workspace, response, key, submitted_by)
            return Answer("replayed", self.winner)
        if self.key_owners.get(key, response) != response:
            if is_new:
                self.refuse(workspace, response, key, submitted_by)
            return Answer("conflicted", self.winner)
        if is_new:
            self.lose(workspace, response, key, submitted_by)
        return Answer("lost", self.winner)

    @event("AttemptFenced")
    def fence(self, workspace: str, response: str, key: str, submitted_by: str) -> None:
        """Another workspace has resolved the instance."""
        del submitted_by
        self.on_record.add((workspace, response, key))

    @event("AttemptReplayed")
    def replay(self, workspace: str, response: str, key: str, submitted_by: str) -> None:
        """The winner came again, under another key."""
        del submitted_by
        self.on_record.add((workspace, response, key))
        self.key_owners.setdefault(key, response)

    @event("AttemptConflicted")
    def refuse(self, workspace: str, response: str, key: str, submitted_by: str) -> None:
        """The key belongs to another response."""
        del submitted_by
        self.on_record.add((workspace, response, key))

    @event("AttemptLost")
    def lose(self, workspace: str, response: str, key: str, submitted_by: str) -> None:
        """Another response has won."""
        del submitted_by
        self.on_record.add((workspace, response, key))
        self.key_owners.setdefault(key, response)
