"""What a power cut could leave of a ledger, and whether the ledger makes the right thing of it."""
