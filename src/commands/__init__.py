"""The commands: for callers, and for operators."""
