"""The command line, run as a shell runs it: piped, on a terminal, or beside the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD
from threading import Timer
from typing import Any

from processes import PATIENCE
from samples import instance, key, response

MODULE = "resolution_ledger"
COMMAND = f"{sys.executable} -m {MODULE}"

Done = subprocess.CompletedProcess[str]


class Shell:
    """Runs the command with a ledger, and perhaps a workspace, in its environment."""

    def __init__(self, folder: Path, path: Path, workspace: str | None = None) -> None:
        self.folder = folder
        self.environment = os.environ | {"RESOLUTION_LEDGER": str(path)}
        for name in ("RESOLUTION_WORKSPACE", "PYTHONUNBUFFERED"):
            self.environment.pop(name, None)
        if workspace is not None:
            self.environment["RESOLUTION_WORKSPACE"] = workspace

    def run(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Done:
        """Run it to its end, with pipes for all streams."""
        done = subprocess.run(
            [sys.executable, "-m", MODULE, *arguments],
            input=stdin,
            capture_output=True,
            env=self.environment | environment,
            cwd=self.folder,
            timeout=PATIENCE,
            check=False,
        )
        return _checked(done.args, done.returncode, done.stdout, done.stderr)

    def script(self, text: str, *arguments: str) -> Done:
        """Run a line of shell in which ``ledger`` is the command and ``$0`` an argument."""
        done = subprocess.run(
            ["/bin/sh", "-c", text.replace("ledger ", f"{COMMAND} "), *arguments],
            capture_output=True,
            env=self.environment,
            cwd=self.folder,
            timeout=PATIENCE,
            check=False,
        )
        return _checked(done.args, done.returncode, done.stdout, done.stderr)

    def json(self, *arguments: str, **environment: str) -> list[Any]:
        """The objects that it prints."""
        return objects(self.run("--json", *arguments, **environment))

    def resolve(self, r: int, k: int, **environment: str) -> tuple[int, Any]:
        """Response ``r`` to instance 1 under key ``k``: exit status and what was printed."""
        arguments = (str(instance(1)), str(response(r)), "--key", str(key(k)), "--by", "tty")
        done = self.run("--json", "resolve", *arguments, **environment)
        return done.returncode, json.loads(done.stdout)

    @contextmanager
    def start(
        self, *arguments: str, arranged: bool = False, **streams: Any
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start it, with pipes for all streams that are not given. It does not outlive this.

        :param arranged: for tests, see :mod:`.arranged`.
        """
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background
            signal.signal(signal.SIGINT, signal.default_int_handler)
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with subprocess.Popen(
            [sys.executable, "-m", "integration.arranged" if arranged else MODULE, *arguments],
            env=self.environment | {"PYTHONPATH": str(Path(__file__).parents[1])},
            cwd=self.folder,
            **pipes | streams,
        ) as process:
            watch = Timer(PATIENCE, process.kill)
            watch.start()
            try:
                yield process
            finally:
                watch.cancel()
                process.kill()

    def on_terminal(self, *arguments: str, stdin: bytes = b"") -> Done:
        """Run it with standard error on a terminal; the other streams are a file and a pipe."""
        terminal, end = os.openpty()
        try:
            output = self.folder / "output"
            with (
                output.open("wb") as file,
                self.start(*arguments, stdout=file, stderr=end) as process,
            ):
                os.close(end)
                assert process.stdin is not None
                process.stdin.write(stdin)
                process.stdin.close()
                shown = read_terminal(terminal)
                process.wait()
        finally:
            os.close(terminal)
        return _checked(process.args, process.returncode, output.read_bytes(), shown)


def objects(done: Done) -> list[Any]:
    """The objects that it has printed, one a line."""
    lines = done.stdout.split("\n")  # nothing else ends a line, though texts may hold it
    assert lines.pop() == ""
    return [json.loads(line) for line in lines]


def end(process: subprocess.Popen[bytes], signal_number: int | None = None) -> Done:
    """What a command that goes on comes to, by itself or by a signal."""
    if signal_number is not None:
        process.send_signal(signal_number)
    stdout, stderr = process.communicate()
    return _checked(process.args, process.returncode, stdout or b"", stderr or b"")


def unread(pipe: int) -> int:
    """How many bytes in a pipe nobody has read yet."""
    return int.from_bytes(ioctl(pipe, FIONREAD, bytes(4)), sys.byteorder)


def read_terminal(terminal: int) -> bytes:
    """All that is shown on a terminal until nobody has it any more."""
    shown = b""
    try:
        while read := os.read(terminal, 65_536):
            shown += read
    except OSError:  # so Linux says that the other end is closed
        pass
    return shown


def _checked(arguments: Any, status: int, stdout: bytes, stderr: bytes) -> Done:
    assert b"Traceback" not in stderr, stderr.decode()
    assert b"Exception ignored" not in stderr, stderr.decode()
    return subprocess.CompletedProcess(arguments, status, stdout.decode(), stderr.decode())
