"""Attacks the ledger as production does, and checks every history against the contract."""
