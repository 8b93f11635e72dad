"""Everything that this package raises on purpose: one module, one base class.

Losing is not here: it is a value (see :mod:`.outcomes`). What is raised is misuse
(the caller must change something) or failure (the database could not do its part).
Facts are attributes, and each docstring says what the caller should do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .ids import InstanceId, ResponseId
    from .text import IdempotencyKey


class ResolutionError(Exception):
    """Base of every error of this package. Catch it to catch them all."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process boundaries (worker pools). The default rebuilds an exception
        # from its message alone, which fails for constructors that take facts.
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(
    kind: type[ResolutionError], args: tuple[object, ...], facts: dict[str, object]
) -> ResolutionError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


# Misuse: the call itself is wrong, nothing was recorded (but see the two refusals below).


class InvalidId(ResolutionError, ValueError):
    """The text is not a content id of the kind that the ledger uses.

    Do not repair the text; go back to where it came from. ``text`` is what was given.
    """

    def __init__(self, text: object, reason: str) -> None:
        super().__init__(f"not a content id: {_shown(text)}: {reason}")
        self.text = text
        self.reason = reason


class NonCanonicalId(InvalidId):
    """The text names a content id, but is not that id's one canonical spelling.

    Two strings must never name one record, so it is refused instead of converted.
    ``canonical`` is the accepted spelling: use it only after finding out who changed it.
    """

    def __init__(self, text: str, canonical: str) -> None:
        super().__init__(text, f"another spelling of {canonical}")
        self.canonical = canonical


class InvalidText(ResolutionError, ValueError):
    """A key or label is not text that the ledger can store and compare exactly.

    Keys are 1 to 512 bytes of UTF-8, labels 0 to 512, with no NUL and no lone surrogate.
    Shorten or encode the value at its source. ``what`` names the field.
    """

    def __init__(self, what: str, value: object, reason: str) -> None:
        super().__init__(f"{what} {reason}: {_shown(value)}")
        self.what = what
        self.value = value
        self.reason = reason


class InvalidRecord(ResolutionError, ValueError):
    """The value is not a record of the kind that was asked for.

    Either it has no canonical DAG-CBOR form, so no id can be minted from it, or something
    other than a ``ResolutionRecord`` was submitted. Correct the value.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidTick(ResolutionError, ValueError):
    """The clock returned something other than a signed 64-bit integer of nanoseconds.

    Nothing was recorded. Pass a clock that behaves like ``time.time_ns``.
    """

    def __init__(self, tick: object) -> None:
        super().__init__(f"a tick is a 64-bit integer, not {_shown(tick)}")
        self.tick = tick


class InvalidOption(ResolutionError, ValueError):
    """An option of ``open`` or of a call has a value that it cannot have. Correct the call."""

    def __init__(self, option: str, value: object, reason: str) -> None:
        super().__init__(f"{option}={_shown(value)}: {reason}")
        self.option = option
        self.value = value
        self.reason = reason


class InvalidCheckpoint(ResolutionError, ValueError):
    """The text is no checkpoint of a ledger. Look for what ``checkpoint`` once printed."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"not a checkpoint: {reason}")
        self.reason = reason


class InvalidExport(ResolutionError, ValueError):
    """The file is no sound export of a ledger. Nothing was imported.

    ``line`` is where it was seen, from 1. Go back to the ledger that it came from.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line} of the export: {reason}")
        self.line = line
        self.reason = reason


# Refusals: well formed, but it counts for nothing. The attempt or withdrawal is on record all the
# same; a ``wait`` leaves nothing there.


class IdempotencyConflict(ResolutionError):
    """The key was first used on this instance for another response.

    A key is a promise that this is the same submission. Do not retry: find out why one key
    was given to two responses, and submit with a new key. ``key``, ``existing`` (the
    response that owns the key), ``presented`` (the response that came now).
    """

    def __init__(self, key: IdempotencyKey, existing: ResponseId, presented: ResponseId) -> None:
        super().__init__(f"key {key.text!r} belongs to response {existing}, not to {presented}")
        self.key = key
        self.existing = existing
        self.presented = presented


class OutsideWorkspace(ResolutionError):
    """The instance was resolved or closed under another workspace; this one has no say in it.

    Nothing is told of who won or where. Do not retry; check which workspace the question
    belongs to. ``instance`` and ``workspace`` (the one that asked).
    """

    def __init__(self, instance: InstanceId, workspace: str) -> None:
        super().__init__(f"instance {instance} is not of workspace {workspace!r}")
        self.instance = instance
        self.workspace = workspace


# Failure: the store could not do its part.


class StoreError(ResolutionError):
    """The store failed. Nothing can be concluded about who won.

    ``outcome_unknown`` is False when nothing was recorded. When it is True the commit may
    or may not have happened: make the same call again, and the answer will be the right one
    either way. ``target`` is the address of the ledger.
    """

    def __init__(self, target: str, reason: str, *, outcome_unknown: bool = False) -> None:
        fate = " (the commit may have happened; make the same call again)"
        super().__init__(f"{target}: {reason}{fate if outcome_unknown else ''}")
        self.target = target
        self.reason = reason
        self.outcome_unknown = outcome_unknown


class StoreBusy(StoreError):
    """Others held the ledger for longer than ``lock_timeout``. Nothing was recorded: retry later.

    Also raised at once where an injected clock calls the ledger that it is read for.
    """


class StoreUnavailable(StoreError):
    """The ledger cannot be reached or written: absent, moved, full, read-only, failing disk.

    Retrying helps only after an operator has mended the cause; or, where there is no ledger yet,
    after ``create``.
    """


class NotALedger(StoreError):
    """What is at this address is not a ledger, and was left as it is. Check the address."""


class CorruptLedger(StoreError):
    """The ledger holds something that it could not have written.

    Stop resolving and call an operator; no answer was invented. ``sequence`` is the global
    number of the event where it was seen, or None where it is not a matter of one event.
    """

    def __init__(
        self,
        target: str,
        reason: str,
        *,
        sequence: int | None = None,
        outcome_unknown: bool = False,
    ) -> None:
        place = "" if sequence is None else f"event {sequence}: "
        super().__init__(target, place + reason, outcome_unknown=outcome_unknown)
        self.sequence = sequence


class UnknownEvent(CorruptLedger):
    """An event has a tag or version that this code does not know; nothing is ever skipped.

    Either a newer version of this package wrote it (upgrade) or the ledger was damaged.
    ``tag``, ``version`` (None where there is none to read), ``sequence``.
    """

    def __init__(self, target: str, *, sequence: int, tag: str, version: object) -> None:
        super().__init__(
            target,
            f"unknown event: tag {_shown(tag)}, version {_shown(version)}",
            sequence=sequence,
        )
        self.tag = tag
        self.version = version


class NotAdopted(NotALedger):
    """The database holds winners of a one-row table, and no log.

    Nothing is decided beside them. Take them over once, with ``LedgerAdmin.adopt`` or the
    command ``adopt``.
    """

    def __init__(self, target: str) -> None:
        super().__init__(target, "it has winners but no log; take them over with adopt first")


class NothingToAdopt(StoreError):
    """The database has no winners of a one-row table, or they have been adopted already."""

    def __init__(self, target: str) -> None:
        super().__init__(target, "it has no one-row table of winners to take over")


class CannotAdopt(StoreError):
    """Winners in the one-row table are nothing that a ledger can hold. Nothing was changed.

    ``rows`` says which, as pairs of instance and reason (the first thousand of them). Correct
    or remove them in the old table, and adopt again.
    """

    def __init__(self, target: str, rows: tuple[tuple[str, str], ...]) -> None:
        listed = "; ".join(f"{instance}: {reason}" for instance, reason in rows[:3])
        more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""  # noqa: PLR2004
        super().__init__(target, f"winners that cannot be adopted: {listed}{more}")
        self.rows = rows


class LedgerNotEmpty(StoreError):
    """A ledger that has events takes in no others. Import into a new one.

    ``length`` is how many it has.
    """

    def __init__(self, target: str, length: int) -> None:
        super().__init__(target, f"it has {length} events already")
        self.length = length


class SchemaTooNew(StoreError):
    """A newer version of this package has migrated the ledger. Upgrade this process.

    ``found`` is the ledger's schema version, ``known`` the newest that this code knows.
    """

    def __init__(self, target: str, *, found: int, known: int) -> None:
        super().__init__(target, f"schema version {found} is newer than {known}")
        self.found = found
        self.known = known


class LedgerClosed(StoreError):
    """The ledger object was closed. Open a new one.

    Not to be mixed up with ``Closed``, which an instance is.
    """


_LONGEST_SHOWN = 100


def _shown(value: object) -> str:
    """A value as an error message may show it: never longer than a line, never a failure."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - huge numbers, deep lists, a stranger's __repr__
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
