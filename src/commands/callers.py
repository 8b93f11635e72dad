"""Commands for callers: to submit, to close, to wait, and to ask what is on record."""

from __future__ import annotations

from typing import get_args

import click

from .. import rendering
from ..domain.dagjson import parse_record
from ..domain.errors import IdempotencyConflict, OutsideWorkspace
from ..domain.ids import ContentId, InstanceId, ResponseId
from ..domain.outcomes import Closed
from ..domain.records import Reason, ResolutionRecord
from ..domain.text import IdempotencyKey
from ..printing import answer
from .settings import EXIT_CODES, EXIT_TIMED_OUT, Settings
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
    answer(str(minted), {"id": str(minted)}, as_json=settings.as_json)


def _show_help_and_fail(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    """Help for commands on whose success a shell acts: an id that says --help must not."""
    if value and not context.resilient_parsing:
        click.echo(context.get_help(), err=True)
        context.exit(EXIT_CODES[ValueError])


_help_that_fails = click.option(
    *("-h", "--help"),
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_help_and_fail,
    help="Show this message and exit 2, which is never a success.",
)

_by = click.option(
    "--by", "submitted_by", default="", help="Who submits, as a label for the audit."
)


@click.command()
@click.pass_obj
def create(settings: Settings) -> None:
    """Make the ledger, if there is none, so that it can be read and waited for.

    One that an older version has made is brought up to date.
    """
    with settings.open() as ledger:
        ledger.create()


@click.command(add_help_option=False)
@_help_that_fails
@click.argument("instance")
@click.argument("response")
@click.option("--key", required=True, help="The idempotency key of this submission.")
@_by
@click.pass_context
def resolve(
    context: click.Context, instance: str, response: str, key: str, submitted_by: str
) -> None:
    """Submit RESPONSE to INSTANCE.

    Exits 0 only for Won; 10 Replayed, 11 Lost, 12 IdempotencyConflict, 13 OutsideWorkspace,
    14 Closed, 1 a store failure, 2 a usage error.
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
            outcome: rendering.Reply = ledger.resolve(record)
        except (IdempotencyConflict, OutsideWorkspace) as refusal:
            outcome = refusal
    rendering.outcome(outcome, as_json=settings.as_json)
    context.exit(EXIT_CODES[type(outcome)])


@click.command(add_help_option=False)
@_help_that_fails
@click.argument("instance")
@click.argument("reason", type=click.Choice(get_args(Reason)))
@_by
@click.pass_context
def withdraw(context: click.Context, instance: str, reason: Reason, submitted_by: str) -> None:
    """Stop asking: close INSTANCE, for REASON, unless an answer was first.

    Exits 0 only for Withdrawn; 14 Closed already, 11 Lost to an answer, 13 OutsideWorkspace,
    1 a store failure, 2 a usage error.
    """
    settings: Settings = context.obj
    with settings.open() as ledger:
        try:
            outcome: rendering.Reply = ledger.withdraw(
                InstanceId.parse(instance), reason, submitted_by
            )
        except OutsideWorkspace as refusal:
            outcome = refusal
    rendering.outcome(outcome, as_json=settings.as_json)
    context.exit(EXIT_CODES[type(outcome)])


@click.command(add_help_option=False)
@_help_that_fails
@click.argument("instance")
@click.option("--timeout", type=float, metavar="SECONDS", help="By default, it waits for ever.")
@click.pass_context
def wait(context: click.Context, instance: str, timeout: float | None) -> None:
    """Print the response that won INSTANCE, as soon as one has.

    Exits 0 if one has, which is no reason to act on it; 14 Closed, 15 timed out, 13
    OutsideWorkspace, 1 a store failure, 2 a usage error. A timeout changes nothing.
    """
    settings: Settings = context.obj
    with settings.open() as ledger:
        try:
            outcome = ledger.wait(InstanceId.parse(instance), timeout)
        except OutsideWorkspace as refusal:
            rendering.outcome(refusal, as_json=settings.as_json)
            context.exit(EXIT_CODES[OutsideWorkspace])
    rendering.settled(outcome, as_json=settings.as_json)
    if outcome is None:
        context.exit(EXIT_TIMED_OUT)
    if isinstance(outcome, Closed):
        context.exit(EXIT_CODES[Closed])


@click.command()
@click.argument("instance")
@click.pass_obj
def winner(settings: Settings, instance: str) -> None:
    """Print the response that won INSTANCE; nothing while there is none."""
    with settings.open() as ledger:
        response = ledger.winner(InstanceId.parse(instance))
    text = None if response is None else str(response)
    answer(text, {"instance": instance, "winner": text}, as_json=settings.as_json)


@click.command()
@click.argument("instance")
@click.pass_obj
def history(settings: Settings, instance: str) -> None:
    """Print what the workspace tried on INSTANCE, oldest first."""
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


CALLER_COMMANDS = (mint, create, resolve, withdraw, wait, winner, history, losers, demo)
