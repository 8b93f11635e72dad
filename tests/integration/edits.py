"""What can be written into each column of an event instead of what is there.

As SQL expressions over the event's own row; none of them gives what was there before.
"""

from __future__ import annotations

from integration.tampering import GREATEST, LEAST, NOBODYS

RAW = "CAST(CAST({} AS BLOB) || x'ff' AS TEXT)"
"""The text of a column with something behind it that is no UTF-8."""

OTHER_STREAM = f"""
    coalesce((SELECT there.originator_id FROM resolution_events AS there
               WHERE there.originator_id <> resolution_events.originator_id
                 AND NOT EXISTS (SELECT 1 FROM resolution_events AS taken
                                  WHERE taken.originator_id = there.originator_id
                                    AND taken.originator_version
                                        = resolution_events.originator_version)),
             '{NOBODYS["instance"]}')
"""  # noqa: S608

ANOTHER = """
    (SELECT there.{0} FROM resolution_events AS there
      WHERE there.sequence <> resolution_events.sequence AND there.{0} <> resolution_events.{0})
"""

OTHER_OUTCOMES = {
    "a win": "CASE topic WHEN 'won' THEN 'adopted' ELSE 'won' END",
    "a loss": "CASE topic WHEN 'lost' THEN 'replayed' ELSE 'lost' END",
    "a refusal": "CASE topic WHEN 'fenced' THEN 'conflicted' ELSE 'fenced' END",
    "a closing": "CASE topic WHEN 'closed' THEN 'withdrawal-late' ELSE 'closed' END",
    "too late": "CASE topic WHEN 'late' THEN 'withdrawal-late' ELSE 'late' END",
    "a withdrawal": (
        "CASE topic WHEN 'withdrawal-lost' THEN 'withdrawal-late' ELSE 'withdrawal-lost' END"
    ),
    "a refused withdrawal": (
        "CASE topic WHEN 'withdrawal-fenced' THEN 'closed' ELSE 'withdrawal-fenced' END"
    ),
}
"""Of a topic: what could be read, if the rest of the event were such."""

EDITS = {
    "sequence": {
        "past the end": "sequence + 1000000",
        "the greatest": str(GREATEST),
        "zero": "0",
        "negative": "-sequence",
        "the least": str(LEAST),
    },
    "originator_id": {
        "of another stream": OTHER_STREAM,
        "of no stream": f"'{NOBODYS['instance']}'",
        "upper case": "upper(originator_id)",
        "a space behind it": "originator_id || ' '",
        "a NUL behind it": "originator_id || char(0)",
        "no id": "'no id'",
        "empty": "''",
        "no UTF-8": RAW.format("originator_id"),
        "no UTF-8 alone": "CAST(x'ff' AS TEXT)",
        "bytes": "CAST(originator_id AS BLOB)",
        "no bytes": "x''",
    },
    "originator_version": {
        "the next but many": "originator_version + 1000",
        "zero": "0",
        "negative": "-originator_version",
        "the greatest": str(GREATEST),
        "the least": str(LEAST),
        "a fraction": "originator_version + 0.5",
        "text": "originator_version || 'x'",
        "empty text": "''",
        "no UTF-8": "CAST(x'ff' AS TEXT)",
        "bytes": "CAST(originator_version AS BLOB)",
    },
    "topic": OTHER_OUTCOMES
    | {
        "unknown": "'annulled'",
        "upper case": "upper(topic)",
        "a space behind it": "topic || ' '",
        "a NUL behind it": "topic || char(0)",
        "empty": "''",
        "no UTF-8": RAW.format("topic"),
        "bytes": "CAST(topic AS BLOB)",
    },
    "state": {
        "a bit of the head": "flip(state, 0)",
        "a bit of the version": "flip(state, 1)",
        "a bit of the response": "flip(state, 40)",
        "a bit of the workspace": "flip(state, 64)",
        "a bit of the key": "flip(state, 69)",
        "a bit of the label or before it": "flip(state, -11)",
        "a bit of the tick": "flip(state, -1)",
        "longer": "CAST(state || x'00' AS BLOB)",
        "shorter": "substr(state, 1, length(state) - 1)",
        "of another event": ANOTHER.format("state"),
        "empty": "x''",
        "empty text": "''",
        "the same in base64": "base64(state)",
        "other base64": "'AAAA'",
        "the same as text": "CAST(state AS TEXT)",
        "text": "'some text'",
        "a number": "5",
        "a fraction": "0.5",
    },
    "fingerprint": {
        "another": "CASE fingerprint WHEN 0 THEN 1 ELSE 0 END",
        "of another event": ANOTHER.format("fingerprint"),
        "text": "'x'",
        "no UTF-8": "CAST(x'ff' AS TEXT)",
        "bytes": "x''",
        "a fraction": "0.5",
    },
    "hash": {
        "the first bit": "flip(hash, 0)",
        "the last bit": "flip(hash, -1)",
        "of another event": ANOTHER.format("hash"),
        "zeros": "zeroblob(32)",
        "longer": "CAST(hash || x'00' AS BLOB)",
        "shorter": "substr(hash, 1, 31)",
        "empty": "x''",
        "empty text": "''",
        "the same in base64": "base64(hash)",
        "other base64": "'AAAA'",
        "text": "'some text'",
        "no UTF-8": "CAST(x'ff' AS TEXT)",
        "a number": "5",
        "a fraction": "0.5",
    },
}

ALL_EDITS = [(column, name) for column, edits in EDITS.items() for name in edits]
"""All of them, as pairs: a column, and the name of an edit."""
