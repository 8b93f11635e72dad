"""What befalls those who use a ledger. Each notes when it has really struck."""
