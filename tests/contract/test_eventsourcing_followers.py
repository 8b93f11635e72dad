"""Stock parts of the ``eventsourcing`` package follow the ledger's log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eventsourcing.application import Application, LocalNotificationLog
from eventsourcing.persistence import InfrastructureFactory, Notification
from eventsourcing.system import NotificationLogReader
from eventsourcing.utils import Environment

from answers import answer, everything
from resolution_ledger import RecordedAttempt, ResolutionLedger
from resolution_ledger.domain.events import EVENT_TYPES, Attempt, Withdrawal
from resolution_ledger.infra.mapper import ResolutionMapper, StreamEvent
from samples import OTHER_WORKSPACE, WORKSPACE, instance, record
from submissions import Closing

INSTANCES = range(7)


class Follower(Application[str]):
    """Anybody's application."""


@pytest.fixture
def env(path: Path) -> dict[str, str]:
    """All that has to be said to a part of the package."""
    return {
        "PERSISTENCE_MODULE": "resolution_ledger.infra.sqlite.recorder:LedgerFactory",
        "SQLITE_DBNAME": str(path),
    }


@pytest.fixture
def attempts(path: Path) -> list[RecordedAttempt]:
    """What is on record in a ledger with events of every kind."""
    with (
        ResolutionLedger.open(path, workspace=WORKSPACE) as ledger,
        ResolutionLedger.open(path, workspace=OTHER_WORKSPACE) as other,
    ):
        answer(ledger, Closing(instance(INSTANCES[-1]), "withdrawn", "scheduler"))
        for n in INSTANCES:
            for r, k in [(1, 1), (1, 2), (2, 3), (3, 3)]:
                answer(ledger, record(n, r, k, "tty"))
                answer(other, record(n, r, k))
            answer(ledger, Closing(instance(n), "expired", "tty"))
            answer(other, Closing(instance(n), "expired"))
        attempts = everything((ledger, other), INSTANCES)
    assert {attempt.outcome for attempt in attempts} == EVENT_TYPES.keys() - {"adopted"}
    return attempts


@pytest.fixture
def log(env: dict[str, str], attempts: list[RecordedAttempt]) -> Iterator[LocalNotificationLog]:
    """The package's notification log over the recorder that its factory makes."""
    assert attempts
    factory = InfrastructureFactory[Any].construct(Environment("", env))
    yield LocalNotificationLog(factory.application_recorder(), section_size=10)
    factory.close()


@pytest.fixture
def follower(env: dict[str, str]) -> Iterator[Follower]:
    """An application on the ledger."""
    follower = Follower(env=env)
    yield follower
    follower.close()


def as_stream_event(attempt: RecordedAttempt) -> StreamEvent:
    """The event that put the attempt on record."""
    if attempt.reason is None:
        cause: Attempt | Withdrawal = Attempt(
            attempt.workspace, attempt.response, attempt.idempotency_key, attempt.submitted_by
        )
    else:
        cause = Withdrawal(attempt.workspace, attempt.reason, attempt.submitted_by)
    event = EVENT_TYPES[attempt.outcome](cause, attempt.tick)
    return StreamEvent(attempt.instance.text, attempt.position, event)


def read_by(follower: Follower, start: int) -> Iterator[Notification]:
    """What the application's own notification log tells, from ``start``."""
    return NotificationLogReader(follower.notification_log).read(start=start)


def test_a_reader_gets_all_events_in_order(
    log: LocalNotificationLog, attempts: list[RecordedAttempt]
) -> None:
    read = list(NotificationLogReader(log).read(start=1))
    assert [notification.id for notification in read] == list(range(1, len(attempts) + 1))
    assert [(n.originator_id, n.originator_version, n.topic) for n in read] == [
        (attempt.instance.text, attempt.position, attempt.outcome) for attempt in attempts
    ]


@pytest.mark.parametrize("start", [1, 2, 10, 11, 35])
def test_a_reader_may_start_anywhere(
    log: LocalNotificationLog, attempts: list[RecordedAttempt], start: int
) -> None:
    read = list(NotificationLogReader(log).read(start=start))
    assert [notification.id for notification in read] == list(range(start, len(attempts) + 1))


@pytest.mark.parametrize(
    "topics",
    [
        ("won",),
        ("lost", "conflicted"),
        ("fenced", "replayed", "won"),
        ("closed", "late"),
        ("nothing",),
    ],
)
def test_a_reader_may_select_topics(
    log: LocalNotificationLog, attempts: list[RecordedAttempt], topics: tuple[str, ...]
) -> None:
    batches = NotificationLogReader(log).select(start=1, topics=topics)
    read = [notification.id for batch in batches for notification in batch]
    assert read == [attempt.sequence for attempt in attempts if attempt.outcome in topics]


def test_the_mapper_gives_the_events_back(
    log: LocalNotificationLog, attempts: list[RecordedAttempt]
) -> None:
    mapper = ResolutionMapper()
    for notification, attempt in zip(
        NotificationLogReader(log).read(start=1), attempts, strict=True
    ):
        event = mapper.to_domain_event(notification)
        assert event == as_stream_event(attempt)
        again = mapper.to_stored_event(event)
        assert Notification(**vars(again), id=notification.id) == notification


def test_a_stock_application_follows_the_ledger(
    follower: Follower, attempts: list[RecordedAttempt], path: Path
) -> None:
    seen = [follower.mapper.to_domain_event(n) for n in read_by(follower, 1)]
    assert seen == [as_stream_event(attempt) for attempt in attempts]
    with ResolutionLedger.open(path, workspace=WORKSPACE) as ledger:
        ledger.resolve(record(99, 1, 1))
        assert [n.topic for n in read_by(follower, len(seen) + 1)] == ["won"]
