"""What a program did to the files of a directory, and what of it a disk is bound to keep.

The model is harsher than most file systems, and no harsher than what SQLite's documents say that it
counts on:

- A sync of a file makes its bytes and its length durable, and nothing else of the file system.
- Until then each write and each change of length may reach the disk or not, in any order, whatever
  was written elsewhere before or after.
- A name (made, linked, renamed, removed) is durable once the directory was synced, and not because
  the file was: stricter than ext4. Until then each may be there or not, in any order.
- A write may be torn. It does no harm to bytes beside those that it writes ("powersafe
  overwrite", which SQLite takes for granted since 3.7.9).
- What was synced stays. Disks that say so and lie are beyond any database.

Shared memory (``-shm``) does not survive, and need not: it is made anew from the WAL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b

from msgspec import Struct


class Write(Struct, frozen=True):
    """Bytes at a place of a file, which may lie past its end."""

    file: int
    offset: int
    data: bytes


class Resize(Struct, frozen=True):
    """A file is cut to a length, or made longer with zeros."""

    file: int
    length: int


class Sync(Struct, frozen=True):
    """What was done to a file until now is durable."""

    file: int


class Name(Struct, frozen=True):
    """A name of the directory leads to a file from now on; None: to nothing."""

    name: str
    file: int | None


class SyncNames(Struct, frozen=True):
    """The names are durable as they are now."""


class Mark(Struct, frozen=True):
    """The program says something, between what it did before and what it does after."""

    text: bytes


Step = Write | Resize | Sync | Name | SyncNames | Mark
Change = Write | Resize


class Recording(Struct, frozen=True):
    """All that happened, in its order."""

    before: Mapping[str, bytes]
    """What was there when it began, and durable. Its files are numbered from 0, in this order."""
    steps: tuple[Step, ...]

    def count(self, kind: type[Step]) -> int:
        """How many steps of a kind there are."""
        return sum(isinstance(step, kind) for step in self.steps)


class Disk:
    """What is durable at one moment, and what has been done since."""

    def __init__(self, before: Mapping[str, bytes]) -> None:
        self.contents: dict[int, bytes] = dict(enumerate(before.values()))
        self.names: dict[str, int] = {name: number for number, name in enumerate(before)}
        self.pending: list[Change | Name] = []

    def take(self, step: Step) -> None:
        """Let a step happen."""
        match step:
            case Write() | Resize() | Name():
                self.pending.append(step)
            case Sync(file=file):
                self._keep(lambda change: not isinstance(change, Name) and change.file == file)
            case SyncNames():
                self._keep(lambda change: isinstance(change, Name))
            case Mark():
                pass

    def after(self, changes: Iterable[Change | Name]) -> Left:
        """What there is if of all that is pending these changes have reached the disk."""
        changes = list(changes)
        names = named(self.names, [change for change in changes if isinstance(change, Name)])
        contents = {
            file: applied(
                self.contents.get(file, b""),
                [c for c in changes if not isinstance(c, Name) and c.file == file],
            )
            for file in sorted(set(names.values()))
        }
        return Left(names, contents)

    def _keep(self, is_kept: Callable[[Change | Name], bool]) -> None:
        kept = [change for change in self.pending if is_kept(change)]
        self.pending = [change for change in self.pending if not is_kept(change)]
        self.names = named(self.names, [change for change in kept if isinstance(change, Name)])
        for change in kept:
            if not isinstance(change, Name):
                content = self.contents.get(change.file, b"")
                self.contents[change.file] = applied(content, [change])


class Left(Struct, frozen=True):
    """What a disk has when the power comes back. A file may have several names."""

    names: Mapping[str, int]
    contents: Mapping[int, bytes]

    def digest(self) -> bytes:
        """The same for what is the same."""
        hashed = blake2b(digest_size=16)
        for name, file in sorted(self.names.items()):
            content = self.contents[file]
            hashed.update(f"{name}\0{file}\0{len(content)}\0".encode())
            hashed.update(content)
        return hashed.digest()


def applied(content: bytes, changes: list[Change]) -> bytes:
    """What a file holds after some changes."""
    if not changes:
        return content
    new = bytearray(content)
    for change in changes:
        end = change.length if isinstance(change, Resize) else change.offset + len(change.data)
        if len(new) < end:
            new.extend(bytes(end - len(new)))
        if isinstance(change, Write):
            new[change.offset : end] = change.data
        else:
            del new[end:]
    return bytes(new)


def named(names: Mapping[str, int], changes: list[Name]) -> dict[str, int]:
    """What the names lead to after some changes."""
    new = dict(names)
    for change in changes:
        if change.file is None:
            new.pop(change.name, None)
        else:
            new[change.name] = change.file
    return new
