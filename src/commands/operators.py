"""Commands for operators and auditors: all workspaces, the whole log."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import get_args

import click

from .. import rendering
from ..domain.errors import CannotAdopt
from ..domain.ids import InstanceId
from ..domain.records import FIRST, Outcome, RecordedAttempt
from ..printing import answer, printable
from .progress import progress_bar
from .settings import EXIT_FINDINGS, Settings
from .streams import bytes_from, bytes_to, remark

_INSTANCES_REMEMBERED = 10_000
"""When each began, as far as a timeline keeps that in memory. The others are looked up again."""

_LONGEST_CHECKPOINT = 65_536
"""Bytes: room for the signatures of many."""

_FILE = click.Path(dir_okay=False, allow_dash=True)


@click.command()
@click.option("--after", type=click.IntRange(min=0), default=0, help="Only past this sequence.")
@click.option("--outcome", type=click.Choice(get_args(Outcome)), help="Only of this outcome.")
@click.option("--follow", is_flag=True, help="Go on with what others record, until interrupted.")
@click.pass_obj
def attempts(settings: Settings, after: int, outcome: Outcome | None, *, follow: bool) -> None:
    """Print every recorded attempt and withdrawal in the order of commits.

    Of one workspace only, if --workspace names it; the environment does not count here.
    """
    if follow and sys.stdout is None:  # the shell has closed it, and would never know
        raise click.UsageError("There is no standard output to write to.")
    with settings.open_admin() as admin:
        look = admin.watch if follow else admin.attempts
        for attempt in look(after, settings.only_workspace, outcome):
            rendering.attempt_line(attempt, as_json=settings.as_json)


@click.command()
@click.argument("instance", required=False)
@click.pass_obj
def replay(settings: Settings, instance: str | None) -> None:
    """Print the history of INSTANCE, or of the whole ledger, as a timeline.

    Each later attempt with how long it came after the one that won, or closed the instance.
    """
    with settings.open_admin() as admin:
        found: Iterable[RecordedAttempt] = (
            admin.attempts() if instance is None else admin.history(InstanceId.parse(instance))
        )
        began_at: dict[InstanceId, int] = {}
        for attempt in found:
            if attempt.outcome in FIRST:
                began_at[attempt.instance] = attempt.tick
            elif attempt.instance not in began_at:  # no longer remembered
                first = admin.resolution(attempt.instance)
                began_at[attempt.instance] = attempt.tick if first is None else first.tick
            if len(began_at) > _INSTANCES_REMEMBERED:
                del began_at[next(iter(began_at))]
            behind = attempt.tick - began_at[attempt.instance]
            rendering.timeline_line(attempt, behind, as_json=settings.as_json)


@click.command()
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@click.pass_obj
def contested(settings: Settings, limit: int) -> None:
    """Print the instances that got the most different answers, and by how much they lost."""
    with settings.open_admin() as admin:
        contests = admin.contested(limit)
    rendering.contests(contests, as_json=settings.as_json)


@click.command("state-at")
@click.argument("sequence", type=click.IntRange(min=0))
@click.pass_obj
def state_at(settings: Settings, sequence: int) -> None:
    """Print what had become of each instance when the log had SEQUENCE events."""
    with settings.open_admin() as admin:
        for attempt in admin.state_at(sequence):
            rendering.attempt_line(attempt, as_json=settings.as_json)


@click.command()
@click.option("--checkpoint", type=_FILE, help="A checkpoint from before ('-': stdin).")
@click.pass_context
def verify(context: click.Context, checkpoint: str | None) -> None:
    """Look for everything that is wrong with the ledger, changing nothing.

    Exits 0 if there is nothing, 20 with findings.
    """
    settings: Settings = context.obj
    known = None
    if checkpoint is not None:
        settings.refuse_the_ledger(checkpoint)
        with bytes_from(checkpoint) as file:
            text = file.read(_LONGEST_CHECKPOINT)
        known = text.decode(errors="surrogateescape").replace("\r\n", "\n")
    with settings.open_admin() as admin, progress_bar("Verifying") as progress:
        report = admin.verify(
            known,
            progress=progress,
            finding=lambda finding: rendering.finding(finding, as_json=settings.as_json),
        )
    remark(f"{report.length} events, {report.count} findings.")
    context.exit(0 if report.clean else EXIT_FINDINGS)


@click.command()
@click.option("--check/--no-check", default=True, help="Have SQLite look through the whole file.")
@click.pass_context
def doctor(context: click.Context, *, check: bool) -> None:
    """Look at the build of SQLite, the file and where it is, changing nothing.

    Exits 0 if there is nothing to be done, 20 with warnings.
    """
    settings: Settings = context.obj
    with settings.open_admin() as admin:
        examination = admin.examine(check=check)
    rendering.examination(examination, as_json=settings.as_json)
    context.exit(EXIT_FINDINGS if examination.warnings else 0)


@click.command()
@click.pass_obj
def rebuild(settings: Settings) -> None:
    """Make the read models what the log demands; print what was mended."""
    with settings.open_admin() as admin, progress_bar("Rebuilding") as progress:
        report = admin.rebuild(
            progress,
            finding=lambda finding: rendering.finding(finding, as_json=settings.as_json),
        )
    remark(f"{report.length} events, {report.count} parts and rows mended.")


@click.command()
@click.pass_obj
def checkpoint(settings: Settings) -> None:
    """Print a short text that commits to the whole log. Keep it where nobody can change it."""
    with settings.open_admin() as admin:
        text = admin.checkpoint()
    origin, length, digest = text.splitlines()
    fields = {"origin": origin, "length": int(length), "hash": digest}
    answer(text.rstrip("\n"), fields, as_json=settings.as_json)


@click.command()
@click.argument("file", default="-", type=_FILE)
@click.pass_obj
def export(settings: Settings, file: str) -> None:
    """Write the log to FILE (by default to standard output) as JSON lines."""
    settings.refuse_the_ledger(file)
    with (
        settings.open_admin() as admin,
        bytes_to(file) as out,
        progress_bar("Exporting") as progress,
    ):
        text = admin.export(out, progress)
    remark(f"{text.splitlines()[1]} events exported.")


@click.command("import")
@click.argument("file", default="-", type=_FILE)
@click.pass_obj
def import_(settings: Settings, file: str) -> None:
    """Make a new ledger of an export in FILE (by default standard input)."""
    settings.refuse_the_ledger(file)
    with (
        settings.open_admin() as admin,
        bytes_from(file) as lines,
        progress_bar("Importing") as progress,
    ):
        text = admin.import_(lines, progress)
    remark(f"{text.splitlines()[1]} events imported.")


@click.command()
@click.pass_obj
def adopt(settings: Settings) -> None:
    """Take over the winners of a one-row table that decided until now."""
    with settings.open_admin() as admin:
        try:
            count = admin.adopt()
        except CannotAdopt as error:
            for instance, reason in error.rows:
                remark(printable(f"{instance}: {reason}"))
            raise
    answer(f"adopted {count}", {"adopted": count}, as_json=settings.as_json)


OPERATOR_COMMANDS = (
    attempts,
    replay,
    contested,
    state_at,
    verify,
    doctor,
    rebuild,
    checkpoint,
    export,
    import_,
    adopt,
)
