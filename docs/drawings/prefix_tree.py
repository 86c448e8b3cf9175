"""Draw docs/figures/prefix_tree.png: the tree of five prompts, and who attends to whom.

    python docs/drawings/prefix_tree.py

Everything drawn is what the library says: the layout of `prefix_tree`, a chunk's kept keys
and the blocks' visible keys.
"""

from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from optionbias.figures.style import (
    COLOURS,
    GREY,
    METADATA,
    PALE_GREY,
    TWO_COLUMNS,
    house_style,
    new_figure,
)
from optionbias.scoring.blocks import Blocks
from optionbias.scoring.prefix_tree import Chunk, PrefixTree, prefix_tree
from optionbias.scoring.queries import Query

WORDS = ("shots", "Q1", "red", "blue", "gold", "Q2", "yes", "no", "?")
PROMPTS = ("shots Q1 red blue gold ?", "shots Q1 red gold blue ?", "shots Q1 blue gold red ?",
           "shots Q2 yes no ?", "shots Q2 no yes ?")  # fmt: skip
CUT, BLOCK = 11, 4
CPU = torch.device("cpu")
BLUE, ORANGE = COLOURS[0], COLOURS[4]
RESULT = Path(__file__).parents[1] / "figures/prefix_tree.png"


def example_tree() -> PrefixTree:
    """Return the tree of the prompts, each word a token."""
    rows = [tuple(map(WORDS.index, prompt.split())) for prompt in PROMPTS]
    return prefix_tree([Query(row, ((0,),)) for row in rows])


def draw_tree(axes: Axes, tree: PrefixTree) -> None:
    """Draw every token as a box at its depth, a line to the token before it."""
    rows = np.cumsum([0, *(np.diff(tree.depths) <= 0)])
    for index, (token, depth) in enumerate(zip(tree.tokens, tree.depths, strict=True)):
        colour = BLUE if index < CUT else ORANGE
        axes.add_patch(Rectangle((depth - 0.42, rows[index] - 0.3), 0.84, 0.6, fill=False,
                                 edgecolor=colour, linewidth=1.0))  # fmt: skip
        axes.text(depth, rows[index], WORDS[token], ha="center", va="center")
        axes.text(depth - 0.4, rows[index] - 0.36, str(index), fontsize=5.5, color=GREY)
        if depth:
            before = max(i for i in range(index) if tree.ends[i] > index)
            places = ([depth - 0.5, depth - 0.5, depth - 0.42], [rows[before], *[rows[index]] * 2])
            axes.plot(*places, color=GREY, linewidth=0.7)
            axes.plot([depth - 0.58, depth - 0.5], [rows[before]] * 2, color=GREY, linewidth=0.7)
    axes.set(xlim=(-0.6, tree.depths.max() + 0.6), ylim=(rows[-1] + 0.7, -0.8))
    axes.set_xticks(range(tree.depths.max() + 1))
    axes.set_yticks([])
    axes.set_xlabel("depth = position in the prompt")
    axes.spines["left"].set_visible(False)
    unshared = tree.row_tokens
    axes.set_title(f"Five prompts of {unshared} tokens, {len(tree)} of them distinct")


def draw_attention(axes: Axes, tree: PrefixTree) -> None:
    """Draw which token attends to which, the two chunks, the kept path and the blocks."""
    size = len(tree)
    whole = Chunk(tree, np.zeros(0, dtype=np.int64), 0, size)
    visible = Blocks(whole, size).visible(None, CPU)[0].numpy()
    first = Chunk(tree, whole.path, 0, CUT)
    second = Chunk(tree, first.keys[first.kept], CUT, size)
    for chunk in (first, second):
        blocks = Blocks(chunk, BLOCK)
        shown = blocks.visible(None, CPU).numpy().any(axis=1)
        for queries, places, used in zip(blocks.queries, blocks.places, shown, strict=True):
            top, bottom = queries[0], queries[-1] + 1
            for key in chunk.keys[places[used]]:
                axes.add_patch(Rectangle((key, top), 1, bottom - top, color=PALE_GREY, alpha=0.45,
                                         linewidth=0))  # fmt: skip
    for query, key in np.argwhere(visible):
        colour = BLUE if key < CUT else ORANGE
        axes.add_patch(Rectangle((key + 0.12, query + 0.12), 0.76, 0.76, color=colour))
    axes.axhline(CUT, color="black", linewidth=0.8)
    for key in second.path:
        axes.text(key + 0.5, -0.25, "kept", rotation=90, ha="center", va="bottom", fontsize=6)
    names = [f"{WORDS[token]} {index}" for index, token in enumerate(tree.tokens)]
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal")
    axes.set_xticks(np.arange(size) + 0.5, names, rotation=90)
    axes.set_yticks(np.arange(size) + 0.5, names)
    axes.tick_params(length=0, labelsize=6)
    axes.text(size + 0.2, CUT / 2, "chunk 1", rotation=270, va="center")
    axes.text(size + 0.2, (CUT + size) / 2, "chunk 2", rotation=270, va="center")
    axes.set_xlabel("attends to")


def main() -> None:
    """Draw both panels."""
    tree = example_tree()
    with house_style():
        figure = new_figure(TWO_COLUMNS, 3.6)
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.05))
        draw_tree(left, tree)
        draw_attention(right, tree)
        figure.savefig(RESULT, metadata=METADATA["png"])


if __name__ == "__main__":
    main()
