"""From the address of a ledger to its database."""

from __future__ import annotations

import os
import re
from typing import cast, get_args

from ..domain.errors import InvalidOption, StoreUnavailable
from ..domain.numbers import plain_number
from .database import Database, Durability
from .sqlite.databases import open_database

MAX_LOCK_TIMEOUT = 1_000_000.0
"""Seconds; what SQLite counts in milliseconds of 32 bits, and a week and a half."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def open_target(
    target: str | os.PathLike[str],
    *,
    lock_timeout: float,
    durability: str = "full",
    incomplete: bool = False,
) -> Database:
    """The database at ``target``; nothing is opened or created yet on disk.

    :param incomplete: for a ledger whose read models may be missing.
    :raises InvalidOption: naming the option that has an impossible value.
    :raises StoreUnavailable: if a relative path has nothing to be relative to.
    """
    if durability not in get_args(Durability):
        raise InvalidOption("durability", durability, 'neither "full" nor "normal"')
    seconds = _lock_timeout(lock_timeout)
    path = _path(target)
    try:
        return open_database(
            path,
            durability=cast(Durability, durability),
            lock_timeout=seconds,
            incomplete=incomplete,
        )
    except OSError as error:  # a relative path, and the current directory has gone
        raise StoreUnavailable(path, str(error)) from error


def _lock_timeout(value: float) -> float:
    plain = plain_number(value)
    if plain is None or not 0 <= plain <= MAX_LOCK_TIMEOUT:
        raise InvalidOption("lock_timeout", value, f"not seconds from 0 to {MAX_LOCK_TIMEOUT:.0f}")
    return plain


def _path(target: str | os.PathLike[str]) -> str:
    try:
        path = os.fspath(target)
    except TypeError:
        raise InvalidOption("target", target, "neither a path nor a URL") from None
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidOption("target", target, "not the text of a path or URL")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InvalidOption("target", target, "a name that no file can have") from None
    if path == ":memory:" and not isinstance(target, str):
        return os.path.join(".", path)  # a path is a path: only the string is special
    if isinstance(target, str) and _URL.match(target):
        raise InvalidOption("target", target, "no database of this kind is supported")
    return path
