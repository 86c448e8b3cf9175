"""Benchmarks that need no download: their texts and facts are part of the library."""

from optionbias.builtin.arithmetic import ARITHMETIC
from optionbias.builtin.benchmark import BuiltinBenchmark, BuiltinItems
from optionbias.builtin.capitals import CAPITALS
from optionbias.builtin.elements import ELEMENTS
from optionbias.builtin.nonsense import NONSENSE
from optionbias.builtin.number_comparison import NUMBER_COMPARISON
from optionbias.errors import UserError

__all__ = ["BUILTIN_BENCHMARKS", "BuiltinBenchmark", "BuiltinItems", "builtin_items"]

BUILTIN_BENCHMARKS: dict[str, BuiltinBenchmark] = {
    benchmark.name: benchmark
    for benchmark in (CAPITALS, ELEMENTS, ARITHMETIC, NUMBER_COMPARISON, NONSENSE)
}


def builtin_items(name: str, seed: int) -> BuiltinItems:
    """Return the items and shots of a built-in benchmark; equal seeds give equal bytes.

    Raises:
        UserError: no built-in benchmark has this name.
    """
    if name not in BUILTIN_BENCHMARKS:
        raise UserError(
            f"unknown built-in benchmark '{name}'; choose one of {', '.join(BUILTIN_BENCHMARKS)}"
        )
    return BUILTIN_BENCHMARKS[name].build(seed)
