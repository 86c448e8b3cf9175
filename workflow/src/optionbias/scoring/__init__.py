"""Scoring: checkpoints, letter tokens, the engine and the cell; the only part that knows torch."""
