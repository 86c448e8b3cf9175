"""Keys of the seeds and of the statistics."""

from pydantic import Field

from optionbias.config.strict import StrictModel


class Seeds(StrictModel):
    """Every random choice starts from one of these."""

    items: int = 0
    """Choice of items under a limit, shuffled canonical orders, built-in benchmarks."""
    ties: int = 0
    """Which of several exactly tied contents counts as the answer."""
    calibration: int = 0
    """Split into calibration and evaluation items."""
    statistics: int = 0
    """Bootstrap draws, noise levels, permutations, item folds and halves."""


class Statistics(StrictModel):
    """Settings of the statistics."""

    bootstrap_draws: int = Field(default=10_000, ge=100)
    """Draws behind every percentile interval."""
    permutations: int = Field(default=10_000, ge=100)
    """Permutations behind the cap null."""
    splits: int = Field(default=100, ge=10)
    """Random halvings of the items behind the split-half correlations."""
    noise_draws: int = Field(default=1_000, ge=100)
    """Draws behind the noise level of skew and pooled SD."""
    few_flipping_items: int = Field(default=30, ge=1)
    """Cells with fewer flipping items than this are flagged."""
    calibration_share: float = Field(default=0.05, gt=0, lt=1)
    """Share of a benchmark's items that estimate the prior; 0.25 suits fewer than 100 items."""
