"""In how many cells does the uniformity test reject?"""

from functools import partial

import numpy as np
import polars as pl

from optionbias.statistics.cell_sets import cell_sets, masked
from optionbias.statistics.ranks import weighted_mean
from optionbias.statistics.resampling import (
    COMMON_SCHEMA,
    DrawSettings,
    resamples_of,
    summarise,
)

LEVEL = 0.05

SCHEMA = {
    "readout": pl.String(),
    "n_options": pl.Int64(),
    "n_rejected": pl.Int64(),
    **COMMON_SCHEMA,
    "median_detectable": pl.Float64(),
}


def rejections_frame(factors: pl.DataFrame, settings: DrawSettings) -> pl.DataFrame:
    """Return the share of cells whose uniform position use is rejected (method, section 3).

    Args:
        factors: the factors frame with ``uniformity_p_holm``, one row per cell; Holm's
            correction has run over all cells of a readout, also for the rows of one K.
        settings: seed and number of draws.

    The intervals resample cells or checkpoints with every cell's decision held fixed.
    """
    rows = []
    for cells in cell_sets(factors, flagged_apart=False):
        resamples = resamples_of(cells.frame, settings)
        p_values = cells.column("uniformity_p_holm")
        rejected = np.where(np.isfinite(p_values), p_values <= LEVEL, np.nan).astype(np.float64)
        for n_options in cells.of_each_options():
            subset = cells.of_options(n_options)
            values = masked(rejected, subset)
            used = np.isfinite(values)
            share = float(values[used].mean()) if used.any() else None
            row = summarise(share, partial(weighted_mean, values), used, resamples, among=subset)
            detectable = cells.column("detectable_deviation")[used]
            rows.append(
                {"readout": cells.readout, "n_options": n_options}
                | {"n_rejected": int(values[used].sum())}
                | row
                | {"median_detectable": float(np.median(detectable)) if used.any() else None}
            )
    return pl.DataFrame(rows, schema=SCHEMA)
