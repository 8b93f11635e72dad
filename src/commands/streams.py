"""Standard streams and files, whatever state the shell has left them in."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

import click


@contextmanager
def bytes_from(path: str) -> Iterator[BinaryIO]:
    """A file to read; ``-`` is standard input."""
    if path != "-":
        try:
            file = open(path, "rb")  # noqa: SIM115 - closed below
        except OSError as error:
            raise click.UsageError(f"{path}: {error.strerror}") from error
        with file:
            yield file
    elif sys.stdin is None:  # the shell has closed it
        raise click.UsageError("There is no standard input to read from.")
    else:
        yield sys.stdin.buffer


@contextmanager
def bytes_to(path: str) -> Iterator[BinaryIO]:
    """A file to write; ``-`` is standard output.

    An ordinary file is there only once all of it is: until then, what was there stays.
    """
    if path == "-":
        if sys.stdout is None:  # the shell has closed it
            raise click.UsageError("There is no standard output to write to.")
        # A buffer of our own: Python's may be none, and would write a part and say nothing.
        with open(sys.stdout.fileno(), "wb", closefd=False) as file:
            yield file
        return
    whole = os.path.realpath(path)
    try:
        mode = os.stat(whole).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(whole, "wb") as file:  # a pipe or device has nothing to keep
            yield file
        return
    unfinished = f"{whole}.unfinished-{secrets.token_hex(8)}"
    try:
        with open(unfinished, "xb") as file:
            if mode is not None:
                os.chmod(unfinished, stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, whole)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)
        raise


def discard(stream: TextIO | None) -> None:
    """Forget what the stream has not written: nobody takes it, and nobody is to wait for it.

    Python would try once more at exit, and complain or hang there.
    """
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def remark(text: str) -> None:
    """Something that is not the answer, and must not change it if nobody can read it."""
    try:
        click.echo(text, err=True)
    except OSError:
        discard(sys.stderr)
