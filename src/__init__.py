"""resolution-ledger: which of several answers to one pending question counts."""

from typing import TYPE_CHECKING

from .admin import LedgerAdmin
from .domain.errors import (
    CannotAdopt,
    CorruptLedger,
    IdempotencyConflict,
    InvalidCheckpoint,
    InvalidExport,
    InvalidId,
    InvalidOption,
    InvalidRecord,
    InvalidText,
    InvalidTick,
    LedgerClosed,
    LedgerNotEmpty,
    NonCanonicalId,
    NotAdopted,
    NotALedger,
    NothingToAdopt,
    OutsideWorkspace,
    ResolutionError,
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from .domain.ids import ContentId, InstanceId, ResponseId
from .domain.outcomes import Closed, Lost, Replayed, ResolutionStore, Withdrawn, Won
from .domain.records import Outcome, Reason, RecordedAttempt, ResolutionRecord
from .domain.text import IdempotencyKey
from .infra.health import Examination, Observation
from .infra.trail import Contest
from .ledger import ResolutionLedger
from .projections.report import Finding, FindingKind, Progress, Report

if TYPE_CHECKING:
    from .asynchronous import AsyncResolutionLedger

__all__ = [
    "AsyncResolutionLedger",
    "CannotAdopt",
    "Closed",
    "ContentId",
    "Contest",
    "CorruptLedger",
    "Examination",
    "Finding",
    "FindingKind",
    "IdempotencyConflict",
    "IdempotencyKey",
    "InstanceId",
    "InvalidCheckpoint",
    "InvalidExport",
    "InvalidId",
    "InvalidOption",
    "InvalidRecord",
    "InvalidText",
    "InvalidTick",
    "LedgerAdmin",
    "LedgerClosed",
    "LedgerNotEmpty",
    "Lost",
    "NonCanonicalId",
    "NotALedger",
    "NotAdopted",
    "NothingToAdopt",
    "Observation",
    "Outcome",
    "OutsideWorkspace",
    "Progress",
    "Reason",
    "RecordedAttempt",
    "Replayed",
    "Report",
    "ResolutionError",
    "ResolutionLedger",
    "ResolutionRecord",
    "ResolutionStore",
    "ResponseId",
    "SchemaTooNew",
    "StoreBusy",
    "StoreError",
    "StoreUnavailable",
    "UnknownEvent",
    "Withdrawn",
    "Won",
]


if not TYPE_CHECKING:  # to a type checker, no other name is to seem to exist

    def __getattr__(name: str) -> object:
        """``AsyncResolutionLedger``: asyncio is loaded for those who use it, and nobody else."""
        if name == "AsyncResolutionLedger":
            from .asynchronous import AsyncResolutionLedger

            return AsyncResolutionLedger
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
