"""Commands for callers: to submit an attempt, and to ask what came of a workspace's attempts."""

from __future__ import annotations

import click

from .. import rendering
from ..domain.dagjson import parse_record
from ..domain.errors import IdempotencyConflict, OutsideWorkspace, ResolutionError
from ..domain.ids import ContentId, InstanceId, ResponseId
from ..domain.outcomes import Lost, Replayed, Won
from ..domain.records import ResolutionRecord
from ..domain.text import IdempotencyKey
from .settings import EXIT_CODES, Settings
from .streams import bytes_from


@click.command()
@click.argument("record", default="-")
@click.pass_obj
def mint(settings: Settings, record: str) -> None:
    """Print the id of a JSON RECORD (by default from standard input).

    A link is written {"/": "bafyr4..."}, as DAG-JSON does.
    """
    text: str | bytes = record
    if record == "-":
        with bytes_from("-") as file:
            text = file.read()
    minted = ContentId.mint(parse_record(text))
    rendering.answer(str(minted), {"id": str(minted)}, as_json=settings.as_json)


def _help_that_fails(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    """Help for ``resolve``: a response that says --help must not look like a win."""
    if value and not context.resilient_parsing:
        click.echo(context.get_help(), err=True)
        context.exit(EXIT_CODES[ValueError])


@click.command(add_help_option=False)
@click.option(
    *("-h", "--help"),
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_that_fails,
    help="Show this message and exit 2: 0 is for Won alone.",
)
@click.argument("instance")
@click.argument("response")
@click.option("--key", required=True, help="The idempotency key of this submission.")
@click.option("--by", "submitted_by", default="", help="Who submits, as a label for the audit.")
@click.pass_context
def resolve(
    context: click.Context, instance: str, response: str, key: str, submitted_by: str
) -> None:
    """Submit RESPONSE to INSTANCE.

    Exits 0 only for Won; 10 Replayed, 11 Lost, 12 IdempotencyConflict, 13 OutsideWorkspace,
    1 a store failure, 2 a usage error.
    """
    settings: Settings = context.obj
    record = ResolutionRecord(
        InstanceId.parse(instance),
        ResponseId.parse(response),
        IdempotencyKey(key),
        submitted_by,
    )
    with settings.open() as ledger:
        try:
            outcome: Won | Lost | Replayed | ResolutionError = ledger.resolve(record)
        except (IdempotencyConflict, OutsideWorkspace) as refusal:
            outcome = refusal
    rendering.outcome(outcome, as_json=settings.as_json)
    context.exit(EXIT_CODES[type(outcome)])


@click.command()
@click.argument("instance")
@click.pass_obj
def winner(settings: Settings, instance: str) -> None:
    """Print the response that won INSTANCE; nothing while there is none."""
    with settings.open() as ledger:
        response = ledger.winner(InstanceId.parse(instance))
    text = None if response is None else str(response)
    rendering.answer(text, {"instance": instance, "winner": text}, as_json=settings.as_json)


@click.command()
@click.argument("instance")
@click.pass_obj
def history(settings: Settings, instance: str) -> None:
    """Print the workspace's attempts on INSTANCE, oldest first."""
    with settings.open() as ledger:
        attempts = ledger.history(InstanceId.parse(instance))
    rendering.attempts(attempts, as_json=settings.as_json)


@click.command()
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@click.pass_obj
def losers(settings: Settings, limit: int) -> None:
    """Print the workspace's losing attempts, newest first, replays left out."""
    with settings.open() as ledger:
        attempts = ledger.losers(limit)
    rendering.attempts(attempts, as_json=settings.as_json)


@click.command()
@click.option("--instances", type=click.IntRange(min=1), default=36, show_default=True)
@click.option("--web", "webs", type=click.IntRange(1, 32), default=4, show_default=True)
@click.pass_context
def demo(context: click.Context, instances: int, webs: int) -> None:
    """Let a terminal and several web processes race for INSTANCES in a fresh ledger.

    Exits 0 if each instance has one winner and everybody was told the same one.
    """
    from .. import demo as race  # nobody else needs multiprocessing

    result = race.run(instances, webs)
    rendering.race(result, as_json=context.obj.as_json)
    context.exit(0 if not result.faults else 1)


CALLER_COMMANDS = (mint, resolve, winner, history, losers, demo)
