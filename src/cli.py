"""``resolution-ledger``: a thin skin over the ledger, for shells and operators.

Answers are on standard output, one JSON object a line with ``--json``; everything else is on
standard error. ``resolve`` exits 0 for Won and for nothing else.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

import click

from . import rendering
from .domain.dagjson import parse_record
from .domain.errors import IdempotencyConflict, OutsideWorkspace, ResolutionError, StoreError
from .domain.ids import ContentId, InstanceId, ResponseId
from .domain.outcomes import Lost, Replayed, Won
from .domain.records import ResolutionRecord
from .domain.text import IdempotencyKey
from .ledger import ResolutionLedger

EXIT_CODES = {
    Won: 0,
    StoreError: 1,
    ValueError: 2,  # usage, and text that is no id, key, label or record
    Replayed: 10,
    Lost: 11,
    IdempotencyConflict: 12,
    OutsideWorkspace: 13,
}
"""What the exit status says, for answers and for errors alike."""

EXIT_INTERRUPTED = 130


class Settings:
    """The options before the command."""

    def __init__(self, ledger: str | None, workspace: str | None, *, as_json: bool) -> None:
        self._ledger = ledger
        self._workspace = workspace
        self.as_json = as_json

    def open(self) -> ResolutionLedger:
        """The ledger that the options name."""
        if self._ledger is None:
            raise click.UsageError("Name the ledger: --ledger or RESOLUTION_LEDGER.")
        if self._ledger == ":memory:":
            # It would end with the command, and every resolve would win.
            raise click.UsageError("A ledger in memory is of no use on the command line.")
        if self._workspace is None:
            raise click.UsageError("Name the workspace: --workspace or RESOLUTION_WORKSPACE.")
        return ResolutionLedger.open(self._ledger, workspace=self._workspace)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--ledger", metavar="PATH|URL", envvar="RESOLUTION_LEDGER", help="The ledger.")
@click.option(
    "--workspace", metavar="KEY", envvar="RESOLUTION_WORKSPACE", help="Who asks (the fence)."
)
@click.option("--json", "as_json", is_flag=True, help="JSON, one object a line.")
@click.version_option(package_name="resolution-ledger")
@click.pass_context
def cli(
    context: click.Context, ledger: str | None, workspace: str | None, *, as_json: bool
) -> None:
    """Decide which of several answers to one pending question counts."""
    context.obj = Settings(ledger, workspace, as_json=as_json)


@cli.command()
@click.argument("record", default="-")
@click.pass_obj
def mint(settings: Settings, record: str) -> None:
    """Print the id of a JSON RECORD (by default from standard input).

    A link is written {"/": "bafyr4..."}, as DAG-JSON does.
    """
    if record != "-":
        text: str | bytes = record
    elif sys.stdin is None:  # the shell has closed it
        raise click.UsageError("There is no standard input to read a record from.")
    else:
        text = sys.stdin.buffer.read()
    minted = ContentId.mint(parse_record(text))
    rendering.answer(str(minted), {"id": str(minted)}, as_json=settings.as_json)


def _help_that_fails(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    """Help for ``resolve``: a response that says --help must not look like a win."""
    if value and not context.resilient_parsing:
        click.echo(context.get_help(), err=True)
        context.exit(EXIT_CODES[ValueError])


@cli.command(add_help_option=False)
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


@cli.command()
@click.argument("instance")
@click.pass_obj
def winner(settings: Settings, instance: str) -> None:
    """Print the response that won INSTANCE; nothing while there is none."""
    with settings.open() as ledger:
        response = ledger.winner(InstanceId.parse(instance))
    text = None if response is None else str(response)
    rendering.answer(text, {"instance": instance, "winner": text}, as_json=settings.as_json)


@cli.command()
@click.argument("instance")
@click.pass_obj
def history(settings: Settings, instance: str) -> None:
    """Print the workspace's attempts on INSTANCE, oldest first."""
    with settings.open() as ledger:
        attempts = ledger.history(InstanceId.parse(instance))
    rendering.attempts(attempts, as_json=settings.as_json)


@cli.command()
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@click.pass_obj
def losers(settings: Settings, limit: int) -> None:
    """Print the workspace's losing attempts, newest first, replays left out."""
    with settings.open() as ledger:
        attempts = ledger.losers(limit)
    rendering.attempts(attempts, as_json=settings.as_json)


@cli.command()
@click.option("--instances", type=click.IntRange(min=1), default=36, show_default=True)
@click.option("--web", "webs", type=click.IntRange(1, 32), default=4, show_default=True)
@click.pass_context
def demo(context: click.Context, instances: int, webs: int) -> None:
    """Let a terminal and several web processes race for INSTANCES in a fresh ledger.

    Exits 0 if each instance has one winner and everybody was told the same one.
    """
    from . import demo as race  # nobody else needs multiprocessing

    result = race.run(instances, webs)
    rendering.race(result, as_json=context.obj.as_json)
    context.exit(0 if not result.faults else 1)


def run() -> int:
    """Run the command that the arguments of the process name; the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a label must not end the output
    try:
        status = cli(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ResolutionError as error:
        click.echo(f"{type(error).__name__}: {error}", err=True)
        return next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return EXIT_INTERRUPTED
    except OSError as error:
        # Nobody takes our output: a pipe was closed, a disk is full. Python would complain
        # once more at exit, when it flushes what is left of it.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            click.echo(f"The answer could not be written: {error}", err=True)
        return 1
    return status if isinstance(status, int) else 0
