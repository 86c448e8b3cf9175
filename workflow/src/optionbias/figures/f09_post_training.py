"""F9: what post-training does to the two factors (method, section 7)."""

import textwrap
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from optionbias.figures.cells import column, counted, first_token_readouts, write_note
from optionbias.figures.labels import Label, Rectangle, place_labels
from optionbias.figures.panels import (
    figure_that_says,
    grid_of_panels,
    of_readout,
    say_why_empty,
)
from optionbias.figures.plane import (
    FLOORS,
    at_the_edge,
    below_floor,
    raised_to_floor,
    set_up_plane,
)
from optionbias.figures.style import COLOURS, GREY, freeze_layout, house_style

NO_PAIR = (
    "No benchmark was run on a post-trained checkpoint and on its base,\n"
    "so there is no change from a base to its release to draw."
)
HEIGHT = 4.5
MAXIMUM_LABELLED_PAIRS = 10
MANY_PAIRS = 40
LEGEND_COLUMNS = 2
PALE = 0.35
POINTS_ALONG_AN_ARROW = 25
DEFINED = pl.all_horizontal(
    pl.col("first_skew").is_not_null(),
    pl.col("second_skew").is_not_null(),
    pl.col("first_flip_rate") > 0,
    pl.col("second_flip_rate") > 0,
)
RESOLVED = pl.col("resolved_flip_rate") & pl.col("resolved_pooled_sd")
DIRECTION = (pl.col("change_flip_rate").sign() * pl.col("change_pooled_sd").sign()).cast(pl.Int64)


@dataclass(frozen=True)
class _Look:
    """How the arrows of one direction look; heads differ, so that they differ in grey too."""

    name: str
    colour: str
    head: str
    marker: str


LOOKS = {
    -1: _Look("opposite ways", COLOURS[1], "-|>", ">"),
    1: _Look("the same way", COLOURS[0], "->", "4"),
    0: _Look("one unchanged", GREY, "-", "_"),
}


def plot(checkpoint_pairs: pl.DataFrame) -> Figure:
    """Draw an arrow from each base to its post-trained release, one panel a readout.

    Args:
        checkpoint_pairs: one row a pair of checkpoints on a benchmark (method, section 3,
            opposite directions); only the post-training pairs of first-token readouts are drawn.

    Returns:
        A figure in the plane of flip rate and skew. A pair whose skew is undefined on either
        side has no arrow and is counted; without any pair the figure says why.
    """
    with house_style():
        pairs = _prepared(checkpoint_pairs)
        readouts = first_token_readouts(pairs)
        if not readouts:
            return figure_that_says(NO_PAIR)
        if pairs.filter(DEFINED).is_empty():
            return figure_that_says(textwrap.fill(_why_no_arrow(pairs), 62))
        figure, panels = grid_of_panels(len(readouts), HEIGHT)
        for panel in panels[len(readouts) :]:
            say_why_empty(panel, "")
        for panel, readout in zip(panels, readouts, strict=False):
            _draw_panel(panel, of_readout(readout, pairs), readout, 62 if len(readouts) > 1 else 95)
        handles = _legend_handles(pairs.filter(DEFINED))
        if handles:
            columns = LEGEND_COLUMNS if len(handles) > 1 else 1
            figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        freeze_layout(figure)
        for panel, readout in zip(panels, readouts, strict=False):
            _label_pairs(panel, of_readout(readout, pairs).filter(DEFINED))
        return figure


def _prepared(checkpoint_pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the post-training pairs with the places of their ends, all in one fixed order."""
    ends = {(f"{end}_{name}"): name for end in ("first", "second") for name in FLOORS}
    return (
        checkpoint_pairs.filter("post_training")
        .sort("readout", "first", "second", "benchmark")
        .with_columns(
            direction=DIRECTION,
            resolved=RESOLVED.fill_null(value=False),
            edge=pl.any_horizontal(below_floor(name, column_) for column_, name in ends.items()),
        )
        .with_columns(
            raised_to_floor(name, column_).name.prefix("drawn_") for column_, name in ends.items()
        )
    )


def _draw_panel(axes: Axes, pairs: pl.DataFrame, readout: str, note_width: int) -> None:
    drawn = pairs.filter(DEFINED)
    if drawn.is_empty():
        axes.set_title(readout)
        say_why_empty(axes, textwrap.fill(_why_no_arrow(pairs), note_width // 2))
        return
    axes.set_title(f"{readout}\n{_title(drawn)}", pad=6)
    flip_rates, skews = (
        np.concatenate([column(drawn, f"drawn_{end}_{name}") for end in ("first", "second")])
        for name in FLOORS
    )
    set_up_plane(axes, flip_rates, skews, [float(flip_rates.max()), float(skews.max())])
    # Resolved arrows lie above the others, and among them those that move opposite ways.
    for pair in drawn.sort("resolved", pl.col("direction") == -1, maintain_order=True).iter_rows(
        named=True
    ):
        look = LOOKS[pair["direction"]]
        _draw_arrow(axes, _ends(pair), look, pair["resolved"], drawn.height > MANY_PAIRS)
    n_at_edge = drawn.filter("edge").height
    note = [
        "arrows from base (dot) to post-trained release; opposite ways: pooled SD and flip rate "
        "change in opposite directions",
        "resolved: the 95% interval of the change excludes 0, items resampled, items usable in "
        "both checkpoints",
        _item_numbers(drawn),
        _left_out(pairs),
        at_the_edge(counted(n_at_edge, "arrow"), n_at_edge),
    ]
    write_note(axes, note, note_width)


def _draw_arrow(
    axes: Axes,
    ends: tuple[tuple[float, float], tuple[float, float]],
    look: _Look,
    resolved: bool,
    many: bool,
) -> None:
    alpha = 1.0 if resolved else PALE
    order = 4 if resolved else 3
    axes.add_patch(
        FancyArrowPatch(
            *ends,
            arrowstyle=look.head,
            mutation_scale=6.0 if many else 8.0,
            color=look.colour,
            linewidth=0.7 if many else 1.1,
            shrinkA=0.0,
            shrinkB=0.0,
            alpha=alpha,
            zorder=order,
        )
    )
    size = 1.8 if many else 2.8
    axes.plot(*ends[0], marker="o", markersize=size, color=look.colour, alpha=alpha, zorder=order)


def _ends(pair: dict[str, float]) -> tuple[tuple[float, float], tuple[float, float]]:
    start, end = (
        (pair[f"drawn_{side}_flip_rate"], pair[f"drawn_{side}_skew"])
        for side in ("first", "second")
    )
    return start, end


def _legend_handles(drawn: pl.DataFrame) -> list[Line2D]:
    """Return a handle for every direction that occurs, resolved (full) or not (pale)."""
    handles = []
    for direction, look in LOOKS.items():
        for resolved, words in ((True, "both changes resolved"), (False, "not both resolved")):
            found = drawn.filter(
                pl.col("direction") == direction, pl.col("resolved") == pl.lit(resolved)
            )
            if found.is_empty():
                continue
            handle = Line2D([], [], color=look.colour, alpha=1.0 if resolved else PALE)
            handle.set(marker=look.marker, markersize=5.0, label=f"{look.name}, {words}")
            handles.append(handle)
    return handles


def _title(drawn: pl.DataFrame) -> str:
    n_pairs = drawn.select("first", "second").n_unique()
    opposite = drawn.filter(pl.col("direction") == -1)
    resolved = opposite.filter("resolved").height
    return (
        f"N = {counted(drawn.height, 'arrow')}, {counted(n_pairs, 'base–release pair')}\n"
        f"opposite ways: {opposite.height} of {drawn.height}, {resolved} with both resolved"
    )


def _left_out(pairs: pl.DataFrame) -> str:
    undefined = pairs.height - pairs.filter(DEFINED).height
    reason = "where nothing flips before or after, so that a skew is undefined"
    return f"left out: {counted(undefined, 'comparison')} {reason}" if undefined else ""


def _why_no_arrow(pairs: pl.DataFrame) -> str:
    without = counted(pairs.height, "comparison")
    return f"No arrow to draw: {without}, and nothing flips before or after: a skew is undefined."


def _item_numbers(drawn: pl.DataFrame) -> str:
    numbers = drawn["n_items"].unique().sort().to_list()
    return f"items of an arrow: {numbers[0]}" + (f" to {numbers[-1]}" if numbers[1:] else "")


def _label_pairs(axes: Axes, drawn: pl.DataFrame) -> None:
    """Name release and benchmark beside the heads of few arrows."""
    if drawn.is_empty() or drawn.height > MAXIMUM_LABELLED_PAIRS:
        return
    labels: list[Label] = []
    covered: list[Rectangle] = []
    for pair in drawn.iter_rows(named=True):
        start, end = _ends(pair)
        name = f"{pair['second']}, {pair['benchmark']}"
        labels.append(Label(*end, name, LOOKS[pair["direction"]].colour))
        # Straight on logarithmic axes: equal steps of the logarithms.
        steps = np.linspace(np.log(start), np.log(end), POINTS_ALONG_AN_ARROW)
        covered += [(float(x), float(y), float(x), float(y)) for x, y in np.exp(steps)]
    # A leader would look like one more arrow.
    dropped = place_labels(axes, labels, covered, leaders=False)
    if dropped:
        axes.set_xlabel(f"flip rate ({counted(dropped, 'label')} without room left out)")
