"""The statements of an operator's session, by name. Those on read models are made from theirs."""

from __future__ import annotations

EVENTS = """
    SELECT sequence, originator_id, originator_version, topic, state, fingerprint, hash
      FROM resolution_events
"""

LOG = f"{EVENTS} WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?"

HEAD_SEQUENCE = "SELECT max(sequence) FROM resolution_events"

STREAM = f"{EVENTS} WHERE originator_id = ? ORDER BY originator_version LIMIT ?"

EVENT = f"{EVENTS} WHERE sequence = ?"

# +sequence: what follows is to walk the keys of the streams, in the order that is asked for.
STREAMS_FROM_THE_BEGINNING = f"""
    {EVENTS}
     WHERE +sequence <= ?
     ORDER BY originator_id, originator_version
     LIMIT ?
"""

# The place to go on from is named by an event, so that not even a damaged id is misread.
STREAMS = f"""
    {EVENTS}
     WHERE (originator_id, originator_version) > (SELECT originator_id, originator_version
                                                   FROM resolution_events WHERE sequence = ?)
       AND +sequence <= ?
     ORDER BY originator_id, originator_version
     LIMIT ?
"""


def first_events(past: str | None = None, *, closing: bool = False) -> str:
    """Events at position 1, by stream.

    :param past: only of later streams than this one; how its name is passed.
    :param closing: only those that closed an instance: an index has these alone.
    """
    return f"""
        {EVENTS}
         WHERE {f"originator_id > {past} AND" if past else ""} originator_version = 1
           AND {"topic = 'closed' AND" if closing else ""} +sequence <= ?
         ORDER BY originator_id
         LIMIT ?
    """


WINNERS_BY_TICK = """
    SELECT instance_id, workspace_key, response_id, idempotency_key, resolved_tick
      FROM interaction_resolutions
     ORDER BY resolved_tick, instance_id
"""

# Where an instance was closed there is no winner, and each answer is another one than that.
CONTESTED = """
    SELECT instance_id, count(DISTINCT losing.response_id) AS others, count(*),
           min(attempted_tick)
      FROM losing_attempts AS losing LEFT JOIN interaction_resolutions AS winner USING (instance_id)
     WHERE losing.response_id IS NOT winner.response_id
     GROUP BY instance_id
     ORDER BY others + (max(winner.response_id) IS NOT NULL) DESC, count(*) DESC, instance_id
     LIMIT ?
"""
