"""F2: one item over its cyclic orderings, and where the answers land (method, section 7).

Everything shown follows from the library's orderings and two made-up models, one
that follows the content and one that leans to the first letters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from optionbias.figures.style import (
    COLOURS,
    GREY,
    NOTE_SIZE,
    PALE_GREY,
    TWO_COLUMNS,
    house_style,
    new_figure,
)
from optionbias.orderings import Ordering, cyclic_design, letters, positions_of

QUESTION = "Which planet is the largest?"
CONTENTS = ("Mars", "Jupiter", "Venus", "Earth")
FAVOURITE = 1
LEANS_TO = 2
FLIP_RATE = 0.4
HEIGHT = 3.7
N_OPTIONS = len(CONTENTS)
STABLE_COLOUR, FLIPPING_COLOUR = COLOURS[0], COLOURS[1]
Answer = Callable[[Ordering], int]


@dataclass(frozen=True)
class _Example:
    """One item and model: how it is named, and the content chosen under an ordering."""

    name: str
    title: str
    answer: Answer
    colour: str
    hatch: str


def follow_content(shown: Ordering) -> int:
    """Answer with the favourite content wherever it is shown: a stable item."""
    return FAVOURITE if FAVOURITE in shown else shown[0]


def lean_to_first_letters(shown: Ordering) -> int:
    """Answer with the favourite if it is at A or B, else with what is at A: it flips."""
    return FAVOURITE if positions_of(shown)[FAVOURITE] < LEANS_TO else shown[0]


def landing_shares(answer: Answer) -> NDArray[np.float64]:
    """Return the share of answers at each position over the K cyclic orderings, K values."""
    design = cyclic_design(N_OPTIONS)
    positions = [positions_of(shown)[answer(shown)] for shown in design]
    counts = np.bincount(positions, minlength=N_OPTIONS)
    shares: NDArray[np.float64] = counts / len(design)
    return shares


EXAMPLES = (
    _Example(
        "stable items' answers",
        "stable item: the same content every time",
        follow_content,
        STABLE_COLOUR,
        "",
    ),
    _Example(
        "flipping items' answers",
        "flipping item: another content when it moves",
        lean_to_first_letters,
        FLIPPING_COLOUR,
        "////",
    ),
)


def plot() -> Figure:
    """Draw the schematic of a stable and a flipping item and of their pool."""
    with house_style():
        figure = new_figure(TWO_COLUMNS, HEIGHT)
        grid = figure.add_gridspec(2, 3, width_ratios=[3.3, 1.25, 1.7])
        for row, example in enumerate(EXAMPLES):
            _draw_orderings(figure.add_subplot(grid[row, 0]), example)
            _draw_shares(figure.add_subplot(grid[row, 1]), example)
        _draw_pool(figure.add_subplot(grid[:, 2]))
        title = f"“{QUESTION}” asked once per cyclic ordering; the model's answer is filled"
        figure.suptitle(title, fontsize=9, x=0.01, ha="left")
        handles = [
            Patch(facecolor=one.colour, edgecolor="white", hatch=one.hatch, label=one.name)
            for one in EXAMPLES
        ]
        figure.legend(handles=handles, loc="outside lower right", ncols=2)
        return figure


def _draw_orderings(axes: Axes, example: _Example) -> None:
    """Draw the orderings as columns of options, the chosen option of each filled."""
    design = cyclic_design(N_OPTIONS)
    for place, shown in enumerate(design):
        chosen = example.answer(shown)
        for position, content in enumerate(shown):
            fill = example.colour if content == chosen else None
            _draw_option(axes, place, position, CONTENTS[content], fill)
    axes.set_xlim(-0.5, len(design) - 0.5)
    axes.set_ylim(N_OPTIONS - 0.45, -0.55)
    axes.set_xticks(range(len(design)), [f"ordering {shift}" for shift in range(len(design))])
    axes.set_yticks(range(N_OPTIONS), list(letters(N_OPTIONS)))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(example.title)


def _draw_option(axes: Axes, place: int, position: int, name: str, fill: str | None) -> None:
    """Draw one option as a box; an answer is filled."""
    box = Rectangle((place - 0.46, position - 0.4), 0.92, 0.8, linewidth=0.6)
    box.set(facecolor=fill or "white", edgecolor=fill or PALE_GREY)
    axes.add_patch(box)
    text = axes.text(place, position, name, ha="center", va="center", fontsize=7)
    text.set(color="white" if fill else GREY, fontweight="bold" if fill else "normal")


def _draw_shares(axes: Axes, example: _Example) -> None:
    """Draw where the item's answers land, as bars beside the letters' rows."""
    shares = landing_shares(example.answer)
    _draw_bars(axes, shares, np.zeros(N_OPTIONS), example)
    _draw_uniform(axes)
    axes.set_title("where its answers land")


def _draw_pool(axes: Axes) -> None:
    """Draw the pooled shares f as the stable items' part and the flipping items' part."""
    stable, flipping = EXAMPLES
    uniform, g = landing_shares(stable.answer), landing_shares(flipping.answer)
    _draw_bars(axes, (1 - FLIP_RATE) * uniform, np.zeros(N_OPTIONS), stable)
    _draw_bars(axes, FLIP_RATE * g, (1 - FLIP_RATE) * uniform, flipping)
    _draw_uniform(axes)
    pooled = (1 - FLIP_RATE) * uniform + FLIP_RATE * g
    axes.set_title(f"pool, {FLIP_RATE:.0%} of items flipping:\nf = (1 − FL) · unif + FL · g")
    axes.set_xlabel("share of all answers, f")
    summary = (
        f"FL = {FLIP_RATE:g}\nSD(g) = {np.std(g):.3f}\nSD(f) = {np.std(pooled):.3f}\n= FL · SD(g)"
    )
    axes.text(0.42, 2.5, summary, va="center", linespacing=1.5)


def _draw_bars(
    axes: Axes, shares: NDArray[np.float64], start: NDArray[np.float64], example: _Example
) -> None:
    axes.barh(
        range(N_OPTIONS),
        shares,
        left=start,
        height=0.7,
        color=example.colour,
        edgecolor="white",
        linewidth=0.4,
        hatch=example.hatch,
    )
    axes.set_ylim(N_OPTIONS - 0.45, -0.55)
    axes.set_yticks(range(N_OPTIONS), list(letters(N_OPTIONS)))
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "½", "1"])


def _draw_uniform(axes: Axes) -> None:
    axes.axvline(1 / N_OPTIONS, color="black", linestyle=(0, (2, 2)), linewidth=0.8)
    note = axes.text(1 / N_OPTIONS + 0.03, N_OPTIONS - 0.5, "1/K", va="bottom", ha="left")
    note.set(fontsize=NOTE_SIZE)


def example_answers() -> Sequence[tuple[str, list[int]]]:
    """Return the title and the chosen contents over the cyclic orderings of each example."""
    design = cyclic_design(N_OPTIONS)
    return [(example.title, [example.answer(shown) for shown in design]) for example in EXAMPLES]
