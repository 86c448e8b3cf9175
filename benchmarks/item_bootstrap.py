"""How much faster is the item bootstrap over distinct patterns than resampling items?

Both draw the same distribution. The alternative is what one would write first: draw
item indices with replacement and compute the factors of the drawn items. Rounds
alternate, so that a busy machine slows both; the ratio is what to read.

    python benchmarks/item_bootstrap.py

prints and writes benchmarks/results/item_bootstrap.json.
"""

import json
import statistics
import time
from pathlib import Path

import numpy as np

from optionbias.orderings import cyclic_design
from optionbias.statistics.bootstrap import bootstrap_values, distinct_patterns
from optionbias.statistics.factors import factors
from optionbias.statistics.item_features import ItemFeatures, shared_design_features

ITEMS, OPTIONS, DRAWS, ROUNDS = 1000, 4, 2000, 3
RESULT = Path(__file__).parent / "results/item_bootstrap.json"


def over_patterns(contents: np.ndarray, gold: np.ndarray, features: ItemFeatures) -> np.ndarray:
    patterns = distinct_patterns(contents, gold)
    distinct = features.take(patterns.first)
    draws = bootstrap_values(
        lambda counts: factors(distinct, counts), patterns.counts, DRAWS, np.random.default_rng(0)
    )
    return draws["flip_rate"]


def over_items(features: ItemFeatures) -> np.ndarray:
    random = np.random.default_rng(0)
    rates = []
    for _ in range(DRAWS):
        drawn = features.take(random.integers(ITEMS, size=ITEMS))
        rates.append(factors(drawn)["flip_rate"][0])
    return np.array(rates)


def main() -> None:
    random = np.random.default_rng(0)
    gold = random.integers(OPTIONS, size=ITEMS)
    knows = random.random((ITEMS, OPTIONS)) < 0.8
    contents = np.where(knows, gold[:, None], random.integers(OPTIONS, size=(ITEMS, OPTIONS)))
    features = shared_design_features(contents, cyclic_design(OPTIONS), gold)
    seconds: dict[str, list[float]] = {"patterns": [], "items": []}
    for _ in range(ROUNDS):
        for name, run in (
            ("patterns", lambda: over_patterns(contents, gold, features)),
            ("items", lambda: over_items(features)),
        ):
            started = time.perf_counter()
            rates = run()
            seconds[name].append(time.perf_counter() - started)
            print(f"{name}: {seconds[name][-1]:.2f} s, SD of the flip rate {rates.std():.4f}")
    ratios = [slow / fast for slow, fast in zip(seconds["items"], seconds["patterns"], strict=True)]
    result = {"seconds": seconds, "ratio": statistics.median(ratios), "draws": DRAWS}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(f"items over patterns: {result['ratio']:.1f} times the time")


if __name__ == "__main__":
    main()
