"""The gate: a lock on a file beside the ledger, at which the processes that write line up.

Nothing depends on it but fairness. Who wins is decided by SQLite's lock and by the keys of the log,
also where only some processes have a gate, or none.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from contextlib import suppress
from stat import S_ISREG
from threading import Lock

from ..bells import Bell

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

SUFFIX = "-gate"

_files: set[int] = set()
"""The open descriptors of all gates of this process."""

_abandoned: dict[str, list[_Helper]] = {}
"""Helpers that nobody needs but that still wait, by their ledger, for whoever needs one next."""


class Gate:
    """One place at the gate. It is used by one thread at a time.

    Such a lock cannot be waited for with a limit, and to ask for it again and again is unfair. So
    where it is taken, a helper thread waits for it, and the caller for the helper.
    """

    # Of the class, since a signal handler may raise before the constructor has done anything, and
    # what is left of the gate then is closed, too.
    _file: int | None = None
    _helper: _Helper | None = None
    may_hold: bool = False
    """Whether the lock may be held; set before it is asked for, since a signal handler may
    raise between the lock's "yes" and whatever notes it."""

    def __init__(self, ledger: str) -> None:
        """For the ledger at a path."""
        self._ledger = ledger
        self._missing = fcntl is None
        """There can be no gate here, and so everybody is through."""

    def enter(self, seconds: float) -> bool:
        """Whether it was to be had in time; 0 seconds: at once."""
        if self._missing:
            return True
        try:
            if self._file is None:
                self._file = _open(self._ledger)
            self.may_hold = True
            entered = _take(self._file) or (seconds > 0 and self._wait(seconds))
            self.may_hold = entered
            return entered
        except (OSError, RuntimeError):  # no file or lock can be had here, or no thread
            self._missing, self.may_hold = True, False
            return True

    def leave(self) -> None:
        """Let the next one through."""
        if self.may_hold:
            if self._file is not None:
                _give_back(self._file)
            if self._helper is not None:
                _give_back(self._helper.file)
            self.may_hold = False

    def close(self) -> None:
        """Let go of the file."""
        self.leave()
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.end()
        file, self._file = self._file, None
        if file is not None:
            _close(file)
        self._missing = fcntl is None  # what has failed may be had next time

    def forget(self) -> None:
        """After a fork, in the child: the place at the gate is the parent's."""
        self._file = self._helper = None
        self.may_hold = False

    def __del__(self) -> None:
        self.close()

    def _wait(self, seconds: float) -> bool:
        if self._helper is None:
            self._helper = _helper_for(self._ledger)
        return self._helper.get(seconds)


class _Request:
    """Somebody waits. Either the helper grants it, or they give up: whoever is first."""

    __slots__ = ("_settled", "granted")

    def __init__(self) -> None:
        self._settled = Lock()
        self.granted = Bell()

    def settle(self) -> bool:
        """Whether nobody has before."""
        return self._settled.acquire(blocking=False)

    def is_settled(self) -> bool:
        """Whether anybody has."""
        return self._settled.locked()


class _Helper:
    """A thread that waits for the lock, with a descriptor of its own.

    The lock belongs to what was opened: with its caller's descriptor, a helper that has been
    given up would take the lock that the caller has, and give that back.
    """

    def __init__(self, ledger: str) -> None:
        self._ledger = ledger
        self.file = _open(ledger)
        self._request: _Request | None = None
        self._asked = Bell()
        # ``Thread`` would not do: a signal handler that raises out of its ``start`` leaves it in a
        # state in which no other thread can be started.
        try:
            start_new_thread(self._serve, ())
        except RuntimeError:  # there are too many
            _close(self.file)
            raise

    def get(self, seconds: float) -> bool:
        """Whether the descriptor has the lock before so many seconds are over."""
        request = self._request = _Request()
        try:
            self._asked.ring()
            # Where nobody rings in time, it may still be granted at the last moment.
            return request.granted.heard(seconds) or not request.settle()
        except BaseException:  # a signal handler's
            request.settle()  # if it has been granted by now, leaving the gate gives it back
            raise

    def end(self) -> None:
        """Let somebody else have it, or else it ends: now, or when it gets the lock at last."""
        self._request = None
        _abandoned.setdefault(self._ledger, []).append(self)
        self._asked.ring()

    def _serve(self) -> None:
        file = self.file
        try:
            while not self._is_superfluous():
                self._asked.heard(None)
                request = self._request
                if request is None or request.is_settled():  # asked for while this waited
                    continue
                with suppress(OSError):  # then nobody is to wait for it
                    _take(file, patiently=True)
                request = self._request  # whoever asked first may have given up meanwhile
                if request is not None and request.settle():
                    request.granted.ring()
                else:
                    _give_back(file)
        finally:
            _close(file)

    def _is_superfluous(self) -> bool:
        """Whether it was abandoned and nobody has taken it over: from now on nobody can."""
        try:
            _abandoned.get(self._ledger, []).remove(self)
        except ValueError:
            return False
        return True


def _helper_for(ledger: str) -> _Helper:
    """One that was abandoned, or a new one."""
    with suppress(KeyError, IndexError):
        return _abandoned[ledger].pop()
    return _Helper(ledger)


def _open(ledger: str) -> int:
    """A descriptor of the gate's file, which is made like SQLite makes those beside a ledger.

    :raises OSError: if there can be none.
    """
    place = os.path.realpath(ledger)
    like = os.stat(place)
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    made = True
    try:
        file = os.open(place + SUFFIX, flags | os.O_CREAT | os.O_EXCL, like.st_mode & 0o666)
    except FileExistsError:
        # To open and close a database in any way but SQLite's would drop this process's locks on
        # it: what is there is looked at first.
        there = os.lstat(place + SUFFIX)
        if not S_ISREG(there.st_mode) or there.st_size or there.st_nlink > 1:
            raise
        file, made = os.open(place + SUFFIX, flags), False
    _files.add(file)
    if made:
        with suppress(OSError):
            # Whoever may open the ledger may open its gate.
            os.fchmod(file, like.st_mode & 0o666)
            if os.geteuid() == 0:
                os.fchown(file, like.st_uid, like.st_gid)
    return file


def _take(file: int, *, patiently: bool = False) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX if patiently else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _give_back(file: int) -> None:
    with suppress(OSError):  # what has no lock cannot give it back
        fcntl.flock(file, fcntl.LOCK_UN)


def _close(file: int) -> None:
    # In this order: a child that is forked in between inherits an open file, but no lock.
    _give_back(file)
    _files.discard(file)
    os.close(file)


def _after_in_child() -> None:
    """Close what was inherited: the lock would be held until parent and child have let go."""
    _abandoned.clear()
    while _files:
        with suppress(OSError):
            os.close(_files.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_in_child)
