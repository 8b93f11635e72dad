"""The rule table once more, as plainly as it can be said: lists, and no index anywhere."""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct

from contract.answers import Answer
from resolution_ledger import ResolutionRecord


class Entry(Struct, frozen=True):
    """One attempt on record."""

    sequence: int
    outcome: str
    workspace: str
    record: ResolutionRecord

    @property
    def submission(self) -> tuple[object, ...]:
        """What makes two attempts one, sent twice."""
        return self.workspace, self.record.response, self.record.idempotency_key


class Model:
    """A ledger that looks at the whole stream each time."""

    def __init__(self) -> None:
        self.streams: dict[object, list[Entry]] = defaultdict(list)
        self.sequence = 0

    def first_use(self, record: ResolutionRecord) -> Entry | None:
        """The entry that owns the record's key on its instance."""
        for entry in self.streams[record.instance]:
            owning = entry.outcome in ("won", "lost", "replayed")
            if owning and entry.record.idempotency_key == record.idempotency_key:
                return entry
        return None

    def resolve(self, workspace: str, record: ResolutionRecord) -> Answer:
        """Answer an attempt and put it on record."""
        outcome, answer = self._decide(workspace, record)
        entry = Entry(self.sequence + 1, outcome, workspace, record)
        stream = self.streams[record.instance]
        if all(entry.submission != earlier.submission for earlier in stream):
            self.sequence += 1
            stream.append(entry)
        return answer

    def _decide(self, workspace: str, record: ResolutionRecord) -> tuple[str, Answer]:
        stream = self.streams[record.instance]
        if not stream:
            return "won", ("won",)
        won = stream[0]
        if workspace != won.workspace:
            return "fenced", ("outside", record.instance, workspace)
        key, winner = record.idempotency_key, won.record.response
        if record.response == winner:
            return "replayed", ("replayed", winner, key == won.record.idempotency_key)
        owner = self.first_use(record)
        if owner is not None and owner.record.response != record.response:
            return "conflicted", ("conflict", key, owner.record.response, record.response)
        return "lost", ("lost", winner)
