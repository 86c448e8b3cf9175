"""Cells whose truth is known: letter log-probabilities drawn from a model with a few knobs.

A checkpoint gives every content of an item a utility: the appeal that all checkpoints see,
its own opinion, and its ability on the correct one. Each time a query is asked, every letter
scores the utility of the content it shows, plus the checkpoint's preference for the letter,
plus noise of this query alone. Noise makes answers flip and leans to no letter; a preference
makes them flip and leans.

For tests and benchmarks only: nothing of this is in the library or in the results of a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit, log_softmax, logit

from optionbias.answers import answers_of_logprobs, content_hash_tie_break
from optionbias.cell_answers import averaged_answers, canonical_margin
from optionbias.cell_file import CELL_SCHEMA, LOW_LETTER_MASS, CellFacts, write_cell
from optionbias.items.item import Item
from optionbias.orderings import (
    Ordering,
    cyclic_and_reversed_design,
    ordering_name,
)
from optionbias.statistics.cell_answers import CellAnswers
from optionbias.statistics.seeds import generator

FloatArray = npt.NDArray[np.float64]
LetterLogprobs = npt.NDArray[np.float32]

READOUT = "zero_shot"
DESIGN = "cyclic+reversed"
TIE_SEED = 0
MASS_SPREAD = 0.3
"""SD over queries of the logit of the letters' summed probability."""
FACTS = CellFacts(
    READOUT, "", "", DESIGN, 0, "float32", "cpu", "sha256:0", "shared_prefixes", 1024,
    0.5, 1.5, 0, 0, 0, 0.0, 0, {"simulated": "1"},
)  # fmt: skip


@dataclass(frozen=True)
class SimulatedBenchmark:
    """Items of one benchmark.

    Attributes:
        name: its id, which also names its draws.
        n_options: K.
        n_items: N.
        difficulty: mean over items of what the correct content lacks in utility.
        spread: SD over items of the difficulty, and over contents of their appeal.
        seed: of the draws.
    """

    name: str
    n_options: int
    n_items: int
    difficulty: float = 0.0
    spread: float = 1.0
    seed: int = 0

    @cached_property
    def item_ids(self) -> tuple[str, ...]:
        """N ids, in ascending sequence as a store sorts them."""
        return tuple(f"i{number:06d}" for number in range(self.n_items))

    @cached_property
    def gold(self) -> npt.NDArray[np.int64]:
        """int [N], the correct contents."""
        return self._random("gold").integers(self.n_options, size=self.n_items)

    @cached_property
    def appeal(self) -> FloatArray:
        """float [N, K], the utility that a checkpoint of ability 0 sees in each content."""
        random = self._random("appeal")
        appeal = random.normal(0, self.spread, (self.n_items, self.n_options))
        hardness = random.normal(self.difficulty, self.spread, self.n_items)
        appeal[np.arange(self.n_items), self.gold] -= hardness
        return appeal

    @cached_property
    def items(self) -> list[Item]:
        """The items as the items stage knows them."""
        options = tuple(f"option {number}" for number in range(self.n_options))
        return [
            Item(name, f"{self.name} {name}?", options, int(gold))
            for name, gold in zip(self.item_ids, self.gold, strict=True)
        ]

    @cached_property
    def item_hashes(self) -> list[str]:
        """The items' hashes, which every cell notes."""
        return [item.item_hash() for item in self.items]

    def _random(self, purpose: str) -> np.random.Generator:
        return generator(self.seed, f"simulated {purpose}", self.name)


@dataclass(frozen=True)
class SimulatedCheckpoint:
    """How one checkpoint answers.

    Attributes:
        name: its id, which also names its draws.
        ability: added to the utility of the correct content.
        noise: SD of what a query adds to each letter's score; 0 asks without noise.
        preference: added to the score of each letter; letters beyond its end get 0.
        opinion: SD of the checkpoint's own view of a content, the same in every query.
        letter_mass: summed probability of the letters in a typical query.
        seed: of the draws.
    """

    name: str
    ability: float = 1.0
    noise: float = 0.5
    preference: tuple[float, ...] = ()
    opinion: float = 0.5
    letter_mass: float = 0.9
    seed: int = 0

    def of_letters(self, n_options: int) -> FloatArray:
        """Return the preference of the first K letters, float [K]."""
        padded = np.zeros(n_options)
        known = np.array(self.preference[:n_options], dtype=np.float64)
        padded[: len(known)] = known
        return padded


@dataclass(frozen=True)
class SimulatedCell:
    """One checkpoint on one benchmark."""

    benchmark: SimulatedBenchmark
    checkpoint: SimulatedCheckpoint

    def utilities(self) -> FloatArray:
        """Return what the checkpoint sees in each content, float [N, K]."""
        asked = self.benchmark
        own = self._random("opinion").normal(0, self.checkpoint.opinion, asked.appeal.shape)
        utilities = asked.appeal + own
        utilities[np.arange(asked.n_items), asked.gold] += self.checkpoint.ability
        return utilities

    def letter_logprobs(self, orderings: Sequence[Ordering]) -> LetterLogprobs:
        """Return natural log-probabilities over a vocabulary, float32 [N, m, K].

        Args:
            orderings: m orderings; each is the content shown at every letter.
        """
        shown = np.array(orderings, dtype=np.int64)
        random = self._random("queries")
        scores = self.utilities()[:, shown] + self.checkpoint.of_letters(shown.shape[1])
        scores += random.normal(0, self.checkpoint.noise, scores.shape)
        mass = random.normal(logit(self.checkpoint.letter_mass), MASS_SPREAD, scores.shape[:2])
        logprobs = log_softmax(scores, axis=2) + np.log(expit(mass))[..., None]
        return np.asarray(logprobs, dtype=np.float32)

    def _random(self, purpose: str) -> np.random.Generator:
        seeds = f"{self.checkpoint.seed} {purpose}"
        names = self.benchmark.name, self.checkpoint.name
        return generator(self.benchmark.seed, f"simulated {seeds}", *names)


def simulated_answers(
    benchmark: SimulatedBenchmark, checkpoint: SimulatedCheckpoint, **flags: str | float | bool
) -> CellAnswers:
    """Return a cell as the statistics would read it from a store.

    Args:
        benchmark: the items.
        checkpoint: who answers.
        flags: more flags of the cell, such as ``stage``.
    """
    # The cyclic orderings come first, so these are the very numbers of the cell's file.
    design = cyclic_and_reversed_design(benchmark.n_options)
    asked = SimulatedCell(benchmark, checkpoint).letter_logprobs(design).astype(np.float64)
    mass = float(np.median(np.exp(asked).sum(axis=2)))
    logprobs, design = asked[:, : benchmark.n_options], design[: benchmark.n_options]
    tie_break = content_hash_tie_break(TIE_SEED, benchmark.name)
    answers = answers_of_logprobs(logprobs, design, benchmark.item_ids, tie_break)
    gap, entropy = canonical_margin(logprobs[:, 0])
    standard: dict[str, str | float | bool | None] = {
        "filtered_pool": True, "degenerate": False, "low_letter_mass": mass < LOW_LETTER_MASS,
        "median_letter_mass": mass, "family": "F", "parameters": 10**9, "stage": "base",
        "base": None,
    }  # fmt: skip
    return CellAnswers(
        READOUT, benchmark.name, checkpoint.name, benchmark.item_ids, answers.contents,
        answers.near_tie, benchmark.gold, benchmark.n_options, benchmark.n_items,
        standard | flags, averaged_answers(logprobs, benchmark.item_ids, tie_break), gap, entropy,
    )  # fmt: skip


def simulated_frame(benchmark: SimulatedBenchmark, checkpoint: SimulatedCheckpoint) -> pl.DataFrame:
    """Return a cell's rows as scoring makes them, cyclic and reversed."""
    orderings = cyclic_and_reversed_design(benchmark.n_options)
    logprobs = SimulatedCell(benchmark, checkpoint).letter_logprobs(orderings)
    n_items, n_orderings, n_options = logprobs.shape
    flat = logprobs.reshape(-1, n_options)
    shown = np.tile(np.array(orderings, dtype=np.uint8), (n_items, 1))
    return pl.DataFrame(
        {
            "item_id": np.repeat(np.array(benchmark.item_ids), n_orderings),
            "item_hash": np.repeat(np.array(benchmark.item_hashes), n_orderings),
            "ordering": [ordering_name(ordering) for ordering in orderings] * n_items,
            "variant": [""] * len(flat),
            "repeat": np.zeros(len(flat), dtype=np.uint8),
            "shown": pl.Series(shown).arr.to_list(),
            "letter_logprobs": pl.Series(flat).arr.to_list(),
            "letter_mass": np.exp(flat.astype(np.float64)).sum(axis=1),
            "prompt_tokens": np.full(len(flat), 50, dtype=np.uint32),
            "unusable_reason": pl.Series([None] * len(flat), dtype=pl.String()),
        },
        schema=CELL_SCHEMA,
    )


def write_simulated_cell(
    folder: Path, benchmark: SimulatedBenchmark, checkpoint: SimulatedCheckpoint
) -> Path:
    """Write the file of one cell where the workflow puts it, and return its path."""
    frame = simulated_frame(benchmark, checkpoint)
    path = folder / f"results/cells/{READOUT}/{benchmark.name}/{checkpoint.name}.parquet"
    facts = replace(
        FACTS,
        benchmark=benchmark.name,
        checkpoint=checkpoint.name,
        n_options=benchmark.n_options,
        prompts=frame.height,
        tokens=50 * frame.height,
    )
    orderings = cyclic_and_reversed_design(benchmark.n_options)
    write_cell(path, frame, facts, benchmark.item_ids, orderings)
    return path
