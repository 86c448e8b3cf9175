"""The plane of the two factors: logarithmic axes and lines of equal pooled SD.

Both axes are logarithmic because the factors multiply: a line of equal pooled SD
is then straight, and the same step right or up changes the score equally.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from optionbias.figures.style import GREY, PALE_GREY

STEPS = (1.0, 2.0, 5.0)
# Smaller values, 0 among them, are drawn at the edge: below these an estimate is noise, and a
# logarithmic axis would give most of the panel to it.
FLOORS = {"flip_rate": 0.005, "skew": 0.002}
# The plane shows at least a tenth of these and up to them, whatever the values.
AT_LEAST = {"flip_rate": 1.0, "skew": 0.5}


def set_up_plane(
    axes: Axes, flip_rates: NDArray[np.float64], skews: NDArray[np.float64], tops: Sequence[float]
) -> None:
    """Give a panel the axes of the two factors and the lines of equal pooled SD (section 7).

    Args:
        axes: an empty panel.
        flip_rates: (points,) flip rates; every one has a place on the panel.
        skews: (points,) skews.
        tops: highest flip rate and skew that have a place, such as the ends of whiskers.
    """
    axes.set_xscale("log")
    axes.set_yscale("log")
    horizontal = _limits("flip_rate", flip_rates, tops[0])
    vertical = _limits("skew", skews, tops[1])
    axes.set_xlim(*horizontal)
    axes.set_ylim(*vertical)
    _draw_isolines(axes, horizontal, vertical)
    for axis, limits in ((axes.xaxis, horizontal), (axes.yaxis, vertical)):
        _plain_ticks(axis, _round_numbers(*limits))
    axes.set_ylabel("skew of the flipping items' answers")
    axes.set_xlabel("flip rate")


def raised_to_floor(statistic: str, *columns: str) -> pl.Expr:
    """Raise columns of a statistic to the floor of its axis; null stays null."""
    return pl.col(*columns).cast(pl.Float64).clip(lower_bound=FLOORS[statistic])


def below_floor(statistic: str, *columns: str) -> pl.Expr:
    """Say for each row whether one of the columns lies below the floor of its axis."""
    return pl.any_horizontal(pl.col(name) < FLOORS[statistic] for name in columns)


def at_the_edge(counted_rows: str, n_rows: int) -> str:
    """Return the words of a note for points below a floor, drawn at the edge, or nothing."""
    floors = f"a flip rate below {FLOORS['flip_rate']:g} or a skew below {FLOORS['skew']:g}"
    return f"{counted_rows} with {floors} drawn at the edge" if n_rows else ""


def _draw_isolines(
    axes: Axes, horizontal: tuple[float, float], vertical: tuple[float, float]
) -> None:
    """Draw lines of equal pooled SD and name them where they leave the panel on the right."""
    right = horizontal[1]
    levels = _round_numbers(vertical[0] * right, vertical[1] * right)
    ends = np.asarray(horizontal)
    for level in levels:
        axes.plot(ends, level / ends, color=PALE_GREY, linewidth=0.7, zorder=1)
    beside = axes.secondary_yaxis(
        "right", functions=(partial(np.multiply, right), partial(np.multiply, 1 / right))
    )
    _plain_ticks(beside.yaxis, levels)
    beside.tick_params(axis="y", colors=GREY, length=2, pad=2)
    beside.spines["right"].set_color(PALE_GREY)
    beside.spines["right"].set_visible(True)
    beside.set_ylabel("lines of equal pooled SD = flip rate × skew", color=GREY, fontsize=7)


def _limits(statistic: str, points: NDArray[np.float64], top: float) -> tuple[float, float]:
    """Return axis limits that hold every point; whiskers may be cut at the lower one."""
    at_least = AT_LEAST[statistic]
    lower = min(max(float(points.min()), FLOORS[statistic]) / 1.4, at_least / 10)
    return lower, float(max(top, at_least) * 1.05)


def _round_numbers(low: float, high: float) -> list[float]:
    """Return the numbers 1, 2, 5 × 10^n between two positive bounds."""
    exponents = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    numbers = [float(f"{step:g}e{exponent}") for exponent in exponents for step in STEPS]
    return [number for number in numbers if low <= number <= high]


def _plain_ticks(axis: Axis, numbers: Sequence[float]) -> None:
    axis.set_major_locator(FixedLocator(list(numbers)))
    axis.set_major_formatter(FixedFormatter([f"{number:g}" for number in numbers]))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
