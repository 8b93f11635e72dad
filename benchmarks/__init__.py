"""How much a ledger costs beside what its users would otherwise write: ``python -m benchmarks``."""
