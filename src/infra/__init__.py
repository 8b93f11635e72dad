"""Where the rules meet a database: stored form of the events, stores, database dialects."""
