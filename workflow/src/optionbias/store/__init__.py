"""The store: one DuckDB file with every probability; the only part that speaks DuckDB."""
