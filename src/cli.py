"""``resolution-ledger``: a thin skin over the two doors, for shells and operators.

Answers are on standard output, one JSON object a line with ``--json``; everything else is on
standard error. ``resolve`` exits 0 for Won and for nothing else.
"""

from __future__ import annotations

import io
import sys

import click
from click.core import ParameterSource

from .commands.callers import CALLER_COMMANDS
from .commands.operators import OPERATOR_COMMANDS
from .commands.settings import EXIT_CODES, EXIT_INTERRUPTED, Settings
from .commands.streams import discard, remark
from .domain.errors import ResolutionError
from .printing import printable


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
    named = context.get_parameter_source("workspace") is not ParameterSource.ENVIRONMENT
    context.obj = Settings(ledger, workspace, named=named, as_json=as_json)


for command in (*CALLER_COMMANDS, *OPERATOR_COMMANDS):
    cli.add_command(command)


def run() -> int:
    """Run the command that the arguments of the process name; the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a label must not end the output
    try:
        status = cli(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            remark(error.ctx.get_usage())
        remark(printable(f"Error: {error.format_message()}"))
        return error.exit_code
    except ResolutionError as error:
        remark(printable(f"{type(error).__name__}: {error}"))
        return next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
    except (click.Abort, KeyboardInterrupt):
        discard(sys.stdout)
        remark("Interrupted.")
        return EXIT_INTERRUPTED
    except OSError as error:
        discard(sys.stdout)  # a pipe was closed, a disk is full
        if not isinstance(error, BrokenPipeError):
            remark(printable(f"The answer could not be written: {error}"))
        return 1
    return status if isinstance(status, int) else 0
