"""The same rules on the ``eventsourcing`` package's own application, repository and recorder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from eventsourcing.application import AggregateNotFoundError, Application
from eventsourcing.persistence import IntegrityError
from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool, SQLiteFactory
from eventsourcing.utils import Environment

from resolution_ledger import (  # type: ignore[import-not-found, unused-ignore]
    ResolutionRecord,  # (mypy does not find an editable installation)
)

from .contender import PATIENCE, Contender, Kind
from .interaction import Answer, Interaction
from .measurements import Durability
from .submissions import WORKSPACE

ORDINARY = "ordinary"


class Submission(NamedTuple):
    """A record as text, and the id of its instance's aggregate."""

    aggregate: UUID
    instance: str
    workspace: str
    response: str
    key: str
    submitted_by: str


class Interactions(Application[UUID]):
    """Gets an aggregate, asks it, saves it; and again if somebody else was first."""

    def resolve(self, submission: Submission) -> Answer:
        """Decide a submission and put it on record."""
        while True:
            try:
                interaction: Interaction = self.repository.get(submission.aggregate)
            except AggregateNotFoundError:
                interaction = Interaction(*submission)
                answer = Answer("won", submission.response)
            else:
                answer = interaction.attempt(*submission[2:])
            if not interaction.pending_events:
                return answer  # a retransmission: saving nothing would cost a transaction
            try:
                self.save(interaction)
            except IntegrityError:
                continue
            return answer

    def winner(self, aggregate: UUID) -> str | None:
        """The response that won, None while there is none."""
        try:
            interaction: Interaction = self.repository.get(aggregate)
        except AggregateNotFoundError:
            return None
        return interaction.winner


class _Pool(SQLiteConnectionPool):
    """The package's pool, with a chosen durability."""

    durability: Durability

    def _create_connection(self) -> SQLiteConnection:
        connection = super()._create_connection()
        # Set for "full", too: it is SQLite's default, but a build can change that.
        connection.cursor().execute(f"PRAGMA synchronous = {self.durability}")
        return connection


class Factory(SQLiteFactory):
    """The package's factory, with the durability that ``DURABILITY`` names."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.datastore.pool.close()
        pool = _Pool(
            db_name=self.datastore.pool.db_name, lock_timeout=int(PATIENCE), pool_timeout=PATIENCE
        )
        pool.durability = "normal" if env.get("DURABILITY") == "normal" else "full"
        self.datastore.pool = pool


@contextmanager
def open_ordinary(path: Path, durability: Durability) -> Iterator[Contender]:
    """The application on the file at ``path``."""
    env = {
        "PERSISTENCE_MODULE": f"{Factory.__module__}:{Factory.__qualname__}",
        "SQLITE_DBNAME": str(path),
        "DURABILITY": durability,
    }
    with Interactions(env) as interactions:
        yield Contender(
            name=ORDINARY,
            submission=lambda record: Submission(
                _aggregate_id(record),
                record.instance.text,
                WORKSPACE,
                record.response.text,
                record.idempotency_key.text,
                record.submitted_by,
            ),
            instance=_aggregate_id,
            resolve=interactions.resolve,
            winner=interactions.winner,
            outcome=lambda answer: str(answer.outcome),
        )


def fill_ordinary(path: Path, records: Iterable[ResolutionRecord]) -> None:
    """Have the file hold an attempt for each of the records."""
    with open_ordinary(path, "normal") as contender:
        for record in records:
            contender.resolve(contender.submission(record))


def _aggregate_id(record: ResolutionRecord) -> UUID:
    return uuid5(NAMESPACE_URL, record.instance.text)


ORDINARY_KIND = Kind(ORDINARY, open_ordinary, shared=True, most=6_000)
