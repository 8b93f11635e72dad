"""A ledger of many events, made quickly: the rules decide, in large transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import groupby, islice, repeat
from operator import attrgetter
from pathlib import Path

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    InstanceId,  # (mypy does not find an editable installation)
    ResolutionLedger,
    ResolutionRecord,
)
from resolution_ledger.domain.decision import (  # type: ignore[import-not-found, unused-ignore]
    InstanceState,
    decide,
    fold,
)
from resolution_ledger.domain.events import (  # type: ignore[import-not-found, unused-ignore]
    Attempt,
    Event,
)
from resolution_ledger.infra.database import (  # type: ignore[import-not-found, unused-ignore]
    OperatorSession,
)
from resolution_ledger.infra.log import append  # type: ignore[import-not-found, unused-ignore]
from resolution_ledger.infra.targets import (  # type: ignore[import-not-found, unused-ignore]
    open_target,
)

from .submissions import WORKSPACE, Minter

_BATCH = 50_000
_MANY_BATCHES = 20
_MADE = 3
"""Counted on when other records are built, so that cached files are built anew."""

Records = Iterable[ResolutionRecord]


def build(path: Path, records: Records) -> None:
    """Make a ledger. Attempts on an instance come together, each with its own key and response."""
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.create()
    database = open_target(path, durability="normal", lock_timeout=5)
    events = _decided(records)
    while batch := list(islice(events, _BATCH)):

        def work(session: OperatorSession) -> None:
            head, _ = session.heads(batch[0][0].text)
            for instance, position, event in batch:
                head = append(session, head, instance, position, event)

        database.write(work)
    database.close()


def _decided(records: Records) -> Iterator[tuple[InstanceId, int, Event]]:
    """What is recorded. For new keys and responses, what matters of an instance is its winner."""
    for instance, attempts in groupby(records, attrgetter("instance")):
        state = InstanceState(instance)
        for position, record in enumerate(attempts, start=1):
            attempt = Attempt(
                WORKSPACE, record.response, record.idempotency_key, record.submitted_by
            )
            kind = decide(state, attempt).event
            assert kind is not None
            event = kind(attempt, time.time_ns())
            if position == 1:
                state = fold(instance, [event])
            yield instance, position, event


def wins(instances: int) -> Iterator[ResolutionRecord]:
    """One win on each.

    Where there are many, those of a batch are in the order of their ids, so that it goes once
    through the large indexes. With few batches that would fill the pages of these as nothing
    else does.
    """
    batch = _BATCH if instances >= _MANY_BATCHES * _BATCH else 1
    for first in range(0, instances, batch):
        numbers = range(first, min(first + batch, instances))
        yield from sorted(map(nth, numbers), key=lambda record: record.instance.text)


def nth(number: int) -> ResolutionRecord:
    """The win with this number, from 0, among ``wins``."""
    (record,) = Minter(2 * number).first_attempts(1)
    return record


def mixed(events: int) -> Iterator[ResolutionRecord]:
    """Every second instance has a win alone, the others two losing attempts."""
    return islice(_mixed(), events)


def _mixed() -> Iterator[ResolutionRecord]:
    minter = Minter()
    while True:
        alone, contested = minter.first_attempts(2)
        yield alone
        yield contested
        yield from minter.rivals(repeat(contested, 2))


def crowded(instances: Iterable[ResolutionRecord], attempts: int, rivals: Minter) -> Records:
    """So many attempts on each: its win, and losses."""
    for instance in instances:
        yield instance
        yield from rivals.rivals(repeat(instance, attempts - 1))


def cached(
    cache: Path, name: str, make: Callable[[Path, Records], None], records: Callable[[], Records]
) -> Path:
    """The file of that name, which is built if no run has done so yet."""
    cache.mkdir(parents=True, exist_ok=True)
    version = _schema_version(cache / "new.db")
    path = cache / f"{name}-{version}-{_MADE}.db"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        make(unfinished, records())
        unfinished.rename(path)
    return path


def _schema_version(path: Path) -> int:
    """The version of the tables that a ledger has now."""
    path.unlink(missing_ok=True)
    build(path, ())
    with closing(sqlite3.connect(path)) as connection:
        ((version,),) = connection.execute("SELECT schema_version FROM resolution_ledger_meta")
    path.unlink()
    return int(version)
