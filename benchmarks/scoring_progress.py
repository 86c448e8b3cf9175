"""How far the benchmark is, and about how long it will still take."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring_work import Questions, Work

RELATIVE_TIMES = {"lm_eval": 1.0, "plain": 0.7, "shared": 0.3, "memory": 0.3}
"""What engines take for the same prompts, roughly; only until they have been measured."""

Step = tuple[str, str]


@dataclass(frozen=True)
class _Size:
    """What a step will take in units of no meaning, and how often it is still to come."""

    weight: float
    left: int


class Progress:
    """Prints every step with the time left, which it learns from the steps so far."""

    def __init__(
        self,
        works: Sequence[Work],
        asked: Mapping[str, Questions],
        parameters: Mapping[str, int],
        rounds: int,
    ) -> None:
        """Plan all steps; a work's prompts and its checkpoint's parameters give its size."""
        self._sizes: dict[Step, _Size] = {}
        self._seconds: dict[Step, float] = {}
        for work in works:
            characters = sum(map(len, asked[work.key].prompts))
            for engine in (*work.engines, *(["memory"] if work.memory else [])):
                weight = characters * parameters[work.checkpoint] * RELATIVE_TIMES[engine]
                self._sizes[work.key, engine] = _Size(weight, 1 if engine == "memory" else rounds)
        self._steps = sum(size.left for size in self._sizes.values())

    def done(self, key: str, engine: str, seconds: float) -> None:
        """Count one step and print where things stand."""
        step = (key, engine)
        self._sizes[step] = _Size(self._sizes[step].weight, self._sizes[step].left - 1)
        self._seconds[step] = seconds
        number = self._steps - sum(size.left for size in self._sizes.values())
        print(
            f"[{number}/{self._steps}] {key}, {engine}: {seconds:.1f} s; "
            f"about {math.ceil(self._left() / 60)} min left",
            flush=True,
        )

    def _left(self) -> float:
        known = sum(self._sizes[step].weight for step in self._seconds)
        scale = sum(self._seconds.values()) / known
        return sum(
            size.left * self._seconds.get(step, scale * size.weight)
            for step, size in self._sizes.items()
        )
