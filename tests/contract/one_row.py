"""The store that the ledger grew out of: one row for an instance, first insert wins.

A question could not be closed there: it is asked about attempts alone.
"""

from __future__ import annotations

import sqlite3

from answers import Answer
from resolution_ledger import IdempotencyKey, ResolutionRecord, ResponseId


class OneRowStore:
    """Compare-and-swap on a table of winners. It knows of the winner's key and no other."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute(
            "CREATE TABLE resolutions (instance PRIMARY KEY, workspace, response, key)"
        )

    def resolve(self, workspace: str, record: ResolutionRecord) -> Answer:
        """Answer an attempt; only a win leaves a trace."""
        instance, key = record.instance, record.idempotency_key
        inserted = self._connection.execute(
            "INSERT INTO resolutions VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (instance.text, workspace, record.response.text, key.text),
        )
        if inserted.rowcount:
            return ("won",)
        fence, won, won_key = self._connection.execute(
            "SELECT workspace, response, key FROM resolutions WHERE instance = ?", (instance.text,)
        ).fetchone()
        winner = ResponseId(won)
        if workspace != fence:
            return "outside", instance, workspace
        if record.response == winner:
            return "replayed", winner, key == IdempotencyKey(won_key)
        if key == IdempotencyKey(won_key):
            return "conflict", key, winner, record.response
        return "lost", winner
