"""The rounds: on one checkpoint the engines take turns on the same prompts and must agree."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scoring_arithmetic import operations, product_rates, weight_product_rate
from scoring_engines import Harness, Measurement, OwnEngines
from scoring_progress import Progress
from scoring_result import Measured, Probe
from scoring_work import Questions, Work

from optionbias.scoring.prefix_tree import prefix_tree

DECIDED_GAP = 1e-3
"""Log-probabilities nearer than this may stand in either order by rounding alone."""

WARM_UP_PROMPTS = 8


def measure_rounds(
    folder: Path,
    works: Sequence[Work],
    asked: Mapping[str, Questions],
    threads: int,
    rounds: int,
    progress: Progress,
) -> tuple[dict[str, Measured], dict[str, Any]]:
    """Measure the works of one checkpoint.

    Returns:
        What was measured, by the works' keys, and the versions of the harness.

    Raises:
        RuntimeError: two engines give different answers.
    """
    with ExitStack() as stack:
        bench = Bench(folder, works, asked, threads, progress, stack)
        return bench.rounds(rounds), bench.harness_versions


class Bench:
    """One checkpoint, loaded by every engine that some of its works need."""

    def __init__(
        self,
        folder: Path,
        works: Sequence[Work],
        asked: Mapping[str, Questions],
        threads: int,
        progress: Progress,
        stack: ExitStack,
    ) -> None:
        """Load the checkpoint and warm the engines up; ``stack`` ends the harness's process."""
        self._works, self._asked, self._progress = works, asked, progress
        self._own = OwnEngines(folder, works[0].checkpoint)
        engines = {engine for work in works for engine in work.engines}
        self._harness = (
            stack.enter_context(Harness(folder, threads)) if "lm_eval" in engines else None
        )
        first = asked[works[0].key]
        few = Questions(first.prompts[:WARM_UP_PROMPTS], first.style, first.n_options)
        for engine in sorted(engines):
            self._measure(engine, few)

    @property
    def harness_versions(self) -> dict[str, Any]:
        """The harness's version and those of the packages it computes with."""
        if self._harness is None:
            return {}
        packages = self._harness.packages
        return {"lm_eval": packages["lm_eval"], "lm_eval_packages": packages}

    def rounds(self, rounds: int) -> dict[str, Measured]:
        """Measure every work in every round, engines in rotating sequence."""
        measured = {work.key: self._begun(work) for work in self._works}
        for number in range(rounds):
            for work in self._works:
                self._round(number, work, measured[work.key])
        return measured

    def _begun(self, work: Work) -> Measured:
        queries = self._own.queries(self._asked[work.key])
        tree = prefix_tree(queries)
        tokens = {
            "prompts": len(queries),
            "prompt_tokens": tree.row_tokens,
            "distinct_tokens": len(tree),
            "plain_tokens": self._own.fresh("plain").workload(queries).tokens,
        }
        seconds: dict[str, list[float]] = {engine: [] for engine in work.engines}
        return Measured(work.checkpoint, tokens, operations(self._own.model, tree), seconds)

    def _round(self, number: int, work: Work, measured: Measured) -> None:
        found: dict[str, Measurement] = {}
        for engine in rotated(work.engines, number):
            before = self._probed(work, engine)
            found[engine] = self._measure(engine, self._asked[work.key])
            probes = before + self._probed(work, engine)
            if probes:
                measured.probes.append(probes)
            measured.seconds[engine].append(found[engine].seconds)
            self._progress.done(work.key, engine, found[engine].seconds)
        check_answers(work.key, found)
        shared = found.pop("shared").logprobs
        for engine, measurement in found.items():
            difference = float(np.abs(measurement.logprobs - shared).max())
            known = measured.largest_difference.get(engine, 0.0)
            measured.largest_difference[engine] = max(known, difference)

    def _probed(self, work: Work, engine: str) -> list[Probe]:
        """Return what the cores can do right now, if it is to be compared with this engine."""
        if not work.ceiling or engine != "shared":
            return []
        return [Probe(product_rates(), weight_product_rate(self._own.model, self._own.budget))]

    def _measure(self, engine: str, questions: Questions) -> Measurement:
        if engine != "lm_eval":
            return self._own.measure(engine, questions)
        assert self._harness is not None
        return self._harness.measure(questions)


def rotated(engines: Sequence[str], number: int) -> Iterator[str]:
    """Return the engines in the sequence of a round: each round begins with the next one."""
    return (engines[(number + place) % len(engines)] for place in range(len(engines)))


def check_answers(key: str, found: dict[str, Measurement]) -> None:
    """Check that all engines give the same answer to every prompt that some engine decides.

    Raises:
        RuntimeError: they do not; the first prompt's log-probabilities are shown.
    """
    scores = np.stack([measurement.logprobs for measurement in found.values()])
    ordered = np.sort(scores, axis=2)
    decided = (ordered[:, :, -1] - ordered[:, :, -2]).max(axis=0) > DECIDED_GAP
    answers = scores.argmax(axis=2)
    differing = np.flatnonzero(decided & (answers != answers[0]).any(axis=0))
    if len(differing):
        shown = {name: scores[place, differing[0]] for place, name in enumerate(found)}
        raise RuntimeError(
            f"{key}: the engines answer {len(differing)} of {len(decided)} prompts differently, "
            f"first prompt number {differing[0]}: {shown}"
        )
