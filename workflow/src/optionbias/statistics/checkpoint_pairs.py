"""Changes between two checkpoints on one benchmark, with paired item intervals."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
import polars as pl

from optionbias.readouts import first_token_readouts
from optionbias.statistics.arrays import FloatArray, IntArray
from optionbias.statistics.bootstrap import resampled_item_counts
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.resampling import DrawSettings
from optionbias.statistics.seeds import generator
from optionbias.statistics.two_factors import two_factors

CHANGED = ("flip_rate", "pooled_sd")
POST_TRAINED = "post-trained"
# Few enough that the weights stay in a processor's cache while every checkpoint uses them.
_DRAWS_AT_ONCE = 500

SCHEMA = {
    "readout": pl.String(),
    "benchmark": pl.String(),
    "n_options": pl.Int64(),
    "first": pl.String(),
    "second": pl.String(),
    "post_training": pl.Boolean(),
    "n_items": pl.Int64(),
    **{
        name: kind
        for statistic in CHANGED
        for name, kind in (
            (f"first_{statistic}", pl.Float64()),
            (f"second_{statistic}", pl.Float64()),
            (f"change_{statistic}", pl.Float64()),
            (f"change_{statistic}_low", pl.Float64()),
            (f"change_{statistic}_high", pl.Float64()),
            (f"resolved_{statistic}", pl.Boolean()),
        )
    },
    "first_skew": pl.Float64(),
    "second_skew": pl.Float64(),
}


@dataclass(frozen=True)
class SharedItems:
    """Pairs of checkpoints whose items usable in both are the same set."""

    items: tuple[str, ...]
    pairs: list[tuple[CellAnswers, CellAnswers]]


def checkpoint_pairs_frame(
    cells: Iterable[CellAnswers],
    settings: DrawSettings,
    progress: Callable[[Sequence[SharedItems]], Iterable[SharedItems]] = list,
) -> pl.DataFrame:
    """Return the change of flip rate and pooled SD between any two checkpoints.

    Both are computed on the items usable in both cells. The 95% intervals resample those
    items, one draw for both checkpoints and both statistics; a change is *resolved* when
    its interval excludes 0 (method, section 3).

    Args:
        cells: cells of any readouts; only first-token readouts form pairs.
        settings: seed and number of draws.
        progress: wraps the groups of pairs to show how far the work is.

    Returns:
        Columns of ``SCHEMA``. In a post-training pair the base comes first; in the others
        the two stand in alphabetical sequence. A pair without a common item is left away.
    """
    ordered = sorted(cells, key=lambda cell: cell.key)
    readouts = first_token_readouts({cell.readout for cell in ordered})
    groups = [
        list(group)
        for key, group in groupby(ordered, lambda cell: cell.key[:2])
        if key[0] in readouts
    ]
    shared = [entry for group in groups for entry in _shared_items(group)]
    rows = [row for entry in progress(shared) for row in _rows(entry, settings)]
    keys = ["readout", "benchmark", "first", "second"]
    return pl.DataFrame(rows, schema=SCHEMA).sort(keys)


def is_post_training(first: CellAnswers, second: CellAnswers) -> bool:
    """Say whether the second checkpoint was post-trained from the first."""
    flags = second.flags
    return flags.get("stage") == POST_TRAINED and flags.get("base") == first.checkpoint


def _shared_items(group: Sequence[CellAnswers]) -> Iterator[SharedItems]:
    """Group the pairs of one readout and benchmark by the items usable in both."""
    usable = {cell.checkpoint: frozenset(cell.item_ids) for cell in group}
    found: dict[frozenset[str], list[tuple[CellAnswers, CellAnswers]]] = {}
    for one, other in combinations(group, 2):
        common = usable[one.checkpoint] & usable[other.checkpoint]
        pair = (other, one) if is_post_training(other, one) else (one, other)
        if common:
            found.setdefault(common, []).append(pair)
    return (SharedItems(tuple(sorted(items)), pairs) for items, pairs in found.items())


def _rows(shared: SharedItems, settings: DrawSettings) -> Iterator[dict[str, object]]:
    cells = {cell.checkpoint: cell for pair in shared.pairs for cell in pair}
    contents = {name: _contents(cell, shared.items) for name, cell in cells.items()}
    everyone = np.ones((1, len(shared.items)))
    point = {name: two_factors(values, everyone) for name, values in contents.items()}
    draws = _draws(contents, shared, settings)
    for first, second in shared.pairs:
        yield _row(first, second, len(shared.items), point, draws)


def _contents(cell: CellAnswers, items: Sequence[str]) -> IntArray:
    place = {name: index for index, name in enumerate(cell.item_ids)}
    return cell.contents[[place[name] for name in items]]


def _draws(
    contents: Mapping[str, IntArray], shared: SharedItems, settings: DrawSettings
) -> dict[str, dict[str, FloatArray]]:
    """Return both statistics [draws] of every checkpoint under shared resamples of the items."""
    one = shared.pairs[0][0]
    random = generator(settings.seed, "checkpoint_pairs", one.readout, one.benchmark)
    parts: dict[str, list[dict[str, FloatArray]]] = {name: [] for name in contents}
    for start in range(0, settings.draws, _DRAWS_AT_ONCE):
        count = min(_DRAWS_AT_ONCE, settings.draws - start)
        weights = resampled_item_counts(len(shared.items), count, random)
        for name, values in contents.items():
            parts[name].append(two_factors(values, weights))
    return {
        name: {key: np.concatenate([part[key] for part in chunks]) for key in CHANGED}
        for name, chunks in parts.items()
    }


def _row(
    first: CellAnswers,
    second: CellAnswers,
    n_items: int,
    point: Mapping[str, Mapping[str, FloatArray]],
    draws: Mapping[str, Mapping[str, FloatArray]],
) -> dict[str, object]:
    row: dict[str, object] = {
        "readout": first.readout,
        "benchmark": first.benchmark,
        "n_options": first.n_options,
        "first": first.checkpoint,
        "second": second.checkpoint,
        "post_training": is_post_training(first, second),
        "n_items": n_items,
    }
    for name in CHANGED:
        before = float(point[first.checkpoint][name][0])
        after = float(point[second.checkpoint][name][0])
        changes = draws[second.checkpoint][name] - draws[first.checkpoint][name]
        low, high = np.quantile(changes, [0.025, 0.975], method="linear").tolist()
        row |= {f"first_{name}": before, f"second_{name}": after}
        row |= {f"change_{name}": after - before, f"resolved_{name}": low > 0 or high < 0}
        row |= {f"change_{name}_low": low, f"change_{name}_high": high}
    for place, cell in (("first", first), ("second", second)):
        skew = float(point[cell.checkpoint]["skew"][0])
        row[f"{place}_skew"] = skew if np.isfinite(skew) else None
    return row
