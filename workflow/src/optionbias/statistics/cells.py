"""The factors frame: one row per cell with every name of section 2.

Columns, in this sequence: readout, benchmark, checkpoint; the counts; then each
estimate followed by its interval ``<name>_low`` and ``<name>_high`` and, where a
draw can be undefined, ``<name>_undefined_draws``; the columns without interval;
few_flipping; and the flags that the cells carry. Undefined is null, never NaN.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars

from optionbias.orderings import cyclic_design
from optionbias.statistics.bootstrap import (
    Interval,
    bootstrap_values,
    distinct_patterns,
    percentile_interval,
)
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.definitions import (
    COUNTS,
    ESTIMATES_WITH_UNDEFINED_DRAWS,
    SCALAR_ESTIMATES,
    VECTOR_ESTIMATES,
    WITHOUT_INTERVAL,
)
from optionbias.statistics.factors import (
    UNDEFINED_WITHOUT_FLIPS,
    Factors,
    factors,
    plain,
    without_unflipped,
)
from optionbias.statistics.invariants import check_invariants
from optionbias.statistics.item_features import ItemFeatures, shared_design_features
from optionbias.statistics.noise import rotation_noise
from optionbias.statistics.seeds import generator
from optionbias.statistics.uniformity import detectable_deviation, holm, uniformity_p

ESTIMATES = SCALAR_ESTIMATES + VECTOR_ESTIMATES


@dataclass(frozen=True)
class FactorSettings:
    """Settings of the factors frame.

    Attributes:
        seed: the study's seed.
        bootstrap_draws: draws of the item bootstrap.
        noise_draws: draws of the random rotations.
        confidence: coverage of the intervals.
        few_flipping_items: a cell with fewer flipping items is flagged.
    """

    seed: int
    bootstrap_draws: int = 10_000
    noise_draws: int = 1_000
    confidence: float = 0.95
    few_flipping_items: int = 30


def factors_schema() -> dict[str, Any]:
    """Return the frame's columns and polars types, flags excepted."""
    schema: dict[str, Any] = dict.fromkeys(
        ("readout", "benchmark", "checkpoint"), polars.String()
    ) | dict.fromkeys(COUNTS, polars.Int64())
    for name in ESTIMATES:
        kind = polars.List(polars.Float64()) if name in VECTOR_ESTIMATES else polars.Float64()
        schema |= {name: kind, f"{name}_low": kind, f"{name}_high": kind}
        if name in ESTIMATES_WITH_UNDEFINED_DRAWS:
            schema[f"{name}_undefined_draws"] = polars.Int64()
    schema |= dict.fromkeys(WITHOUT_INTERVAL, polars.Float64())
    return schema | {"few_flipping": polars.Boolean()}


def factors_frame(
    cells: Iterable[CellAnswers],
    settings: FactorSettings,
    progress: Callable[[Iterable[CellAnswers]], Iterable[CellAnswers]] = iter,
) -> polars.DataFrame:
    """Return the factors of all cells, in the given sequence (schema: ``factors_schema``).

    Args:
        cells: any number of cells of any readouts.
        settings: seed, draws and thresholds.
        progress: wraps the cells to show how far the work is; the result ignores it.

    Holm's correction runs over the cells of each readout. Flags become further columns;
    a flag that a cell lacks is null.

    Raises:
        ValueError: a cell whose arrays do not fit, or a flag named like another column.
        InvariantError: a cell that breaks an identity or bound of section 2.
    """
    rows = [cell_factors(cell, settings) for cell in progress(cells)]
    _add_holm(rows)
    schema = factors_schema()
    flag_names = list(dict.fromkeys(name for row in rows for name in row if name not in schema))
    columns = [
        polars.Series(name, [row[name] for row in rows], dtype=kind)
        for name, kind in schema.items()
    ]
    flags = [polars.Series(name, [row.get(name) for row in rows]) for name in flag_names]
    return polars.DataFrame(columns + flags)


def cell_factors(cell: CellAnswers, settings: FactorSettings) -> dict[str, object]:
    """Return one cell's row of the factors frame (``uniformity_p_holm`` still None).

    A cell without usable items has its counts, its flags and nothing else.

    Raises:
        ValueError: arrays that do not fit each other, or a flag named like a column.
        InvariantError: an identity or bound of section 2 is broken.
    """
    _check_cell(cell)
    row: dict[str, object] = dict.fromkeys(factors_schema())
    row |= {"readout": cell.readout, "benchmark": cell.benchmark, "checkpoint": cell.checkpoint}
    row |= {"n_options": cell.n_options, "n_items": cell.n_items, "n_usable": len(cell.gold)}
    row |= {"n_flipping": 0, "n_without_near_ties": 0} | dict(cell.flags)
    if len(cell.gold) > 0:
        features = shared_design_features(
            cell.contents, cyclic_design(cell.n_options), cell.gold, cell.near_tie, cell.averaged
        )
        values = factors(features)
        check_invariants(values, features, cell.name)
        row |= _counts(features) | _estimates(values) | _intervals(cell, features, settings)
        row |= _noise_and_uniformity(cell, features, values, settings)
        _hide_intervals_of_undefined(row)
    return row | {"few_flipping": _as_int(row["n_flipping"]) < settings.few_flipping_items}


def _check_cell(cell: CellAnswers) -> None:
    """Refuse a cell whose parts do not fit each other."""
    shape = (len(cell.item_ids), cell.n_options)
    if cell.contents.shape != shape or cell.near_tie.shape != shape or len(cell.gold) != shape[0]:
        raise ValueError(
            f"cell {cell.name}: contents {cell.contents.shape}, near ties {cell.near_tie.shape} "
            f"and gold {cell.gold.shape} do not hold {shape[0]} items × {shape[1]} orderings"
        )
    taken = sorted(set(cell.flags) & set(factors_schema()))
    if taken:
        raise ValueError(f"cell {cell.name}: flag '{taken[0]}' is already a column's name")


def _counts(features: ItemFeatures) -> dict[str, int]:
    """Return the counts of flipping items and of items without a near tie."""
    return {
        "n_flipping": int(features.columns["flips"].sum()),
        "n_without_near_ties": int(features.columns["without_near_tie"].sum()),
    }


def _estimates(values: Factors) -> dict[str, object]:
    """Return the point estimates; skew and h are undefined if nothing flips, g is uniform."""
    marked = without_unflipped(values)
    reported = values | {name: marked[name] for name in UNDEFINED_WITHOUT_FLIPS}
    return {name: plain(reported[name][0]) for name in (*ESTIMATES, "identity_residual")}


def _intervals(
    cell: CellAnswers, features: ItemFeatures, settings: FactorSettings
) -> dict[str, object]:
    """Return the item-bootstrap intervals of every estimate."""
    patterns = distinct_patterns(
        cell.contents,
        cell.gold,
        cell.near_tie.any(axis=1),
        cell.gold if cell.averaged is None else cell.averaged,
    )
    distinct = features.take(patterns.first)
    draws = bootstrap_values(
        lambda counts: without_unflipped(factors(distinct, counts)),
        patterns.counts,
        settings.bootstrap_draws,
        _cell_generator("item_bootstrap", cell, settings),
    )
    row: dict[str, object] = {}
    for name in ESTIMATES:
        row |= _interval_columns(name, percentile_interval(draws[name], settings.confidence))
    return row


def _interval_columns(name: str, interval: Interval) -> dict[str, object]:
    """Return the columns that report one interval."""
    columns: dict[str, object] = {f"{name}_low": interval.low, f"{name}_high": interval.high}
    if name in ESTIMATES_WITH_UNDEFINED_DRAWS:
        columns[f"{name}_undefined_draws"] = interval.undefined_draws
    return columns


def _hide_intervals_of_undefined(row: dict[str, object]) -> None:
    """Give an undefined estimate no interval, even if some draws happen to define it."""
    for name in ESTIMATES:
        if row[name] is None:
            row[f"{name}_low"] = row[f"{name}_high"] = None


def _noise_and_uniformity(
    cell: CellAnswers, features: ItemFeatures, values: Factors, settings: FactorSettings
) -> dict[str, object]:
    """Return the columns on noise by few items and on the uniformity test."""
    noise = rotation_noise(
        features, settings.noise_draws, _cell_generator("rotation_noise", cell, settings)
    )
    largest = float(values["max_deviation"][0])
    return {
        "skew_noise": noise.skew_noise,
        "pooled_sd_noise": noise.pooled_sd_noise,
        "skew_p": noise.skew_p,
        "uniformity_p": uniformity_p(largest, cell.n_options, features.n_items),
        "detectable_deviation": detectable_deviation(cell.n_options, features.n_items),
    }


def _cell_generator(
    purpose: str, cell: CellAnswers, settings: FactorSettings
) -> np.random.Generator:
    """Return the cell's own generator, whatever cells are computed beside it."""
    return generator(settings.seed, purpose, cell.readout, cell.benchmark, cell.checkpoint)


def _add_holm(rows: list[dict[str, object]]) -> None:
    """Fill ``uniformity_p_holm`` over the cells of each readout."""
    for readout in {row["readout"] for row in rows}:
        members = [row for row in rows if row["readout"] == readout]
        p_values = [_as_optional_float(row["uniformity_p"]) for row in members]
        for row, adjusted in zip(members, holm(p_values), strict=True):
            row["uniformity_p_holm"] = adjusted


def _as_int(value: object) -> int:
    """Read a count back from a row."""
    assert isinstance(value, int)
    return value


def _as_optional_float(value: object) -> float | None:
    """Read a p value back from a row."""
    assert value is None or isinstance(value, float)
    return value
