"""Statistics: pure functions on arrays and frames, without files, torch or DuckDB."""
