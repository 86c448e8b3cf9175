"""Benchmark items: sources, validation, exclusions, order dependence, calibration split."""
