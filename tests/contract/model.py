"""The rule tables once more, as plainly as can be said: lists, and no index anywhere."""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct

from answers import Answer
from resolution_ledger import ResolutionRecord, ResponseId
from submissions import Closing, Submission


class Entry(Struct, frozen=True):
    """One attempt or withdrawal on record."""

    sequence: int
    outcome: str
    workspace: str
    sent: Submission

    @property
    def submission(self) -> tuple[object, ...]:
        """What makes two of them one, sent twice: workspace, response, key and reason."""
        if isinstance(self.sent, Closing):
            return self.workspace, None, None, self.sent.reason
        return self.workspace, self.sent.response, self.sent.idempotency_key, None


class Model:
    """A ledger that looks at the whole stream each time."""

    def __init__(self) -> None:
        self.streams: dict[object, list[Entry]] = defaultdict(list)
        self.sequence = 0

    def first_use(self, record: ResolutionRecord) -> Entry | None:
        """The entry that owns the record's key on its instance."""
        for entry in self.streams[record.instance]:
            owning = entry.outcome in ("won", "lost", "replayed")
            if owning and entry.sent.idempotency_key == record.idempotency_key:
                return entry
        return None

    def winner(self, workspace: str, instance: object) -> ResponseId | None:
        """The response that won the instance under this workspace."""
        first = self.streams[instance][:1]
        won = [entry for entry in first if (entry.outcome, entry.workspace) == ("won", workspace)]
        return won[0].sent.response if won else None

    def submit(self, workspace: str, sent: Submission) -> Answer:
        """Answer an attempt or withdrawal and put it on record."""
        decide = self._withdraw if isinstance(sent, Closing) else self._resolve
        outcome, answer = decide(workspace, sent)
        entry = Entry(self.sequence + 1, outcome, workspace, sent)
        stream = self.streams[sent.instance]
        if all(entry.submission != earlier.submission for earlier in stream):
            self.sequence += 1
            stream.append(entry)
        return answer

    def _resolve(self, workspace: str, record: ResolutionRecord) -> tuple[str, Answer]:
        stream = self.streams[record.instance]
        if not stream:
            return "won", ("won",)
        first = stream[0]
        if workspace != first.workspace:
            return "fenced", ("outside", record.instance, workspace)
        if first.outcome == "closed":
            return "late", ("closed", first.sent.reason)
        key, winner = record.idempotency_key, first.sent.response
        if record.response == winner:
            return "replayed", ("replayed", winner, key == first.sent.idempotency_key)
        owner = self.first_use(record)
        if owner is not None and owner.sent.response != record.response:
            return "conflicted", ("conflict", key, owner.sent.response, record.response)
        return "lost", ("lost", winner)

    def _withdraw(self, workspace: str, closing: Closing) -> tuple[str, Answer]:
        stream = self.streams[closing.instance]
        if not stream:
            return "closed", ("withdrawn",)
        first = stream[0]
        if workspace != first.workspace:
            return "withdrawal-fenced", ("outside", closing.instance, workspace)
        if first.outcome == "closed":
            return "withdrawal-late", ("closed", first.sent.reason)
        return "withdrawal-lost", ("lost", first.sent.response)
