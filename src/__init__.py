"""resolution-ledger: which of several answers to one pending question counts."""

from .domain.errors import (
    CorruptLedger,
    IdempotencyConflict,
    InvalidId,
    InvalidOption,
    InvalidRecord,
    InvalidText,
    InvalidTick,
    LedgerClosed,
    NonCanonicalId,
    NotALedger,
    OutsideWorkspace,
    ResolutionError,
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from .domain.ids import ContentId, InstanceId, ResponseId
from .domain.outcomes import Lost, Replayed, ResolutionStore, Won
from .domain.records import RecordedAttempt, ResolutionRecord
from .domain.text import IdempotencyKey
from .ledger import ResolutionLedger

__all__ = [
    "ContentId",
    "CorruptLedger",
    "IdempotencyConflict",
    "IdempotencyKey",
    "InstanceId",
    "InvalidId",
    "InvalidOption",
    "InvalidRecord",
    "InvalidText",
    "InvalidTick",
    "LedgerClosed",
    "Lost",
    "NonCanonicalId",
    "NotALedger",
    "OutsideWorkspace",
    "RecordedAttempt",
    "Replayed",
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
    "Won",
]
