"""The statements that deciding and following take, by name. Operators have theirs."""

from __future__ import annotations

# No row for an empty log.
HEADS = """
    SELECT (SELECT schema_version FROM resolution_ledger_meta),
           sequence,
           hash,
           (SELECT sequence FROM resolution_events
             WHERE originator_id = ? ORDER BY originator_version LIMIT 1)
      FROM resolution_events
     ORDER BY sequence DESC
     LIMIT 1
"""

# The version stands in the rows, as in HEADS: a statement of its own takes as long as this one.
FIRST_EVENT = """
    SELECT sequence, originator_id, originator_version, topic, state,
           (SELECT schema_version FROM resolution_ledger_meta)
      FROM resolution_events
     WHERE originator_id = ?
     ORDER BY originator_version
     LIMIT 1
"""

# INDEXED BY: without statistics the planner would rather walk all positions of the stream.
# The last row is no event: it has the stream's greatest position.
EVENTS_THAT_MATTER = """
    SELECT sequence, originator_id, originator_version, topic, state
      FROM resolution_events
     WHERE sequence = ?
    UNION ALL
    SELECT sequence, originator_id, originator_version, topic, state
      FROM resolution_events INDEXED BY resolution_events_by_fingerprint
     WHERE fingerprint = ? AND originator_version > 1 AND originator_id = ?
    UNION ALL
    SELECT sequence, originator_id, originator_version, topic, state
      FROM resolution_events INDEXED BY resolution_events_by_fingerprint
     WHERE fingerprint = ? AND originator_version > 1 AND originator_id = ?
    UNION ALL
    SELECT NULL, NULL, max(originator_version), NULL, NULL
      FROM resolution_events
     WHERE originator_id = ?
"""

STREAM_EVENTS = """
    SELECT sequence, originator_id, originator_version, topic, state,
           (SELECT schema_version FROM resolution_ledger_meta)
      FROM resolution_events
     WHERE originator_id = ?
     ORDER BY originator_version
"""

SCHEMA_VERSION = "SELECT schema_version FROM resolution_ledger_meta"

HEAD = "SELECT sequence, hash FROM resolution_events ORDER BY sequence DESC LIMIT 1"

LEDGER_ID = "SELECT ledger_id FROM resolution_ledger_meta"

TAKE_IDENTITY = "UPDATE resolution_ledger_meta SET ledger_id = ?"

APPEND_EVENT = """
    INSERT INTO resolution_events
           (sequence, originator_id, originator_version, topic, state, fingerprint, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""

ADD_WINNER = """
    INSERT INTO interaction_resolutions
           (instance_id, workspace_key, response_id, idempotency_key, resolved_tick)
    VALUES (?, ?, ?, ?, ?)
"""

ADD_LOSING_ATTEMPT = """
    INSERT INTO losing_attempts
           (sequence, instance_id, position, outcome, workspace_key, response_id,
            idempotency_key, submitted_by, attempted_tick)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

ADD_CLOSED_INSTANCE = """
    INSERT INTO closed_instances
           (instance_id, workspace_key, reason, submitted_by, closed_tick)
    VALUES (?, ?, ?, ?, ?)
"""

LOSING_ATTEMPTS = """
    SELECT sequence, instance_id, position, outcome, workspace_key, response_id,
           idempotency_key, submitted_by, attempted_tick
      FROM losing_attempts INDEXED BY losing_attempts_newest
     WHERE workspace_key = ? AND outcome <> 'replayed'
     ORDER BY sequence DESC
     LIMIT ?
"""


def winner(version: int) -> str:
    """The response by which a workspace won an instance; none in a ledger of another version."""
    return f"""
        SELECT response_id
          FROM interaction_resolutions
         WHERE instance_id = ?
           AND workspace_key = ?
           AND (SELECT schema_version FROM resolution_ledger_meta) = {version}
    """  # noqa: S608 - only a number of ours varies


def notifications(topics: int) -> str:
    """Events from one sequence to another, of the given number of topics (0: of all)."""
    among = f"AND topic IN ({', '.join('?' * topics)})" if topics else ""
    return f"""
        SELECT sequence, originator_id, originator_version, topic, state
          FROM resolution_events
         WHERE sequence BETWEEN ? AND ? {among}
         ORDER BY sequence
         LIMIT ?
    """  # noqa: S608 - only the number of placeholders varies


def stream_slice(*, descending: bool) -> str:
    """Events of a stream from one position (exclusive) to another, at most so many."""
    return f"""
        SELECT sequence, originator_id, originator_version, topic, state
          FROM resolution_events
         WHERE originator_id = ? AND originator_version > ? AND originator_version <= ?
         ORDER BY originator_version {"DESC" if descending else "ASC"}
         LIMIT ?
    """  # noqa: S608 - only the direction varies
