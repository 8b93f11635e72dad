"""A ledger of many events, made quickly: the rules decide, in large transactions."""

from __future__ import annotations

import time
from base64 import b32encode
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TypeVar

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    IdempotencyKey,  # (mypy does not find an editable installation)
    InstanceId,
    ResponseId,
)
from resolution_ledger.domain.decision import (  # type: ignore[import-not-found, unused-ignore]
    decide,
)
from resolution_ledger.domain.events import (  # type: ignore[import-not-found, unused-ignore]
    Attempt,
)
from resolution_ledger.infra.database import (  # type: ignore[import-not-found, unused-ignore]
    OperatorSession,
)
from resolution_ledger.infra.log import (  # type: ignore[import-not-found, unused-ignore]
    append,
    look,
)
from resolution_ledger.infra.targets import (  # type: ignore[import-not-found, unused-ignore]
    open_target,
)

from .submissions import WORKSPACE

_BATCH = 5000
_CID = b"\x01\x71\x1e\x20"
"""CIDv1, dag-cbor, BLAKE3, 32 bytes. The digest is another one here: it is only to be random."""

Id = TypeVar("Id", InstanceId, ResponseId)


def build(path: Path, events: int) -> None:
    """Make a ledger: every second instance has a win alone, the others two losing attempts."""
    database = open_target(path, durability="normal", lock_timeout=5)
    attempts = islice(_attempts(), events)
    while batch := list(islice(attempts, _BATCH)):

        def work(session: OperatorSession) -> None:
            for instance, attempt in batch:
                head, position, state = look(session, instance, attempt)
                event = decide(state, attempt).event
                assert event is not None
                append(session, head, instance, position + 1, event(attempt, time.time_ns()))

        database.write(work)
    database.close()


def _attempts() -> Iterator[tuple[InstanceId, Attempt]]:
    number = 0
    while True:
        number += 1
        instance = _id(InstanceId, number)
        for rival in range(1 if number % 2 else 3):
            key = IdempotencyKey(f"{number:x}-{rival}")
            yield instance, Attempt(WORKSPACE, _id(ResponseId, number + rival), key, "web:7f3a")


def _id(kind: type[Id], number: int) -> Id:
    digest = sha256(f"{kind.__name__} {number}".encode()).digest()
    return kind("b" + b32encode(_CID + digest).decode().lower().rstrip("="))
