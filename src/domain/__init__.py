"""The rules of the ledger: pure, with no database, no clock and no import from outside."""
