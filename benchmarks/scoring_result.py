"""From seconds to ratios, goals and a table."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoring_work import ENGINES

AGAINST_LM_EVAL = {
    "zero_shot": 2.4, "large_vocabulary": 5.5, "all_orderings": 3.4, "ten_options": 1.9,
}  # fmt: skip
AGAINST_LM_EVAL_OF_IDEAL = {"five_shot": 1.25}
SHARE_OF_IDEAL = {
    "zero_shot": 0.92, "large_vocabulary": 0.92, "five_shot": 0.85, "all_orderings": 0.85,
    "ten_options": 0.8,
}  # fmt: skip
CEILING_SHARE = 0.8
MOST_MEMORY = 1.25


@dataclass(frozen=True)
class Probe:
    """What the cores could do at one moment, in operations per second.

    Attributes:
        large: rates of a large matrix product, several times.
        weights: rate of the checkpoint's own weight products in full chunks.
    """

    large: list[float]
    weights: float

    @property
    def limit(self) -> float:
        """Share of a large product's rate that the weight products alone reach."""
        return self.weights / statistics.median(self.large)


@dataclass
class Measured:
    """Everything measured of one work.

    Attributes:
        checkpoint: its checkpoint.
        tokens: counts of prompts and tokens, by name.
        operations: additions and multiplications that the distinct tokens need.
        seconds: by engine, one per round.
        probes: what the cores could do before and after the shared engine, a list per round.
        largest_difference: largest difference of a log-probability from the shared engine's,
            by engine.
    """

    checkpoint: str
    tokens: dict[str, int]
    operations: int
    seconds: dict[str, list[float]]
    probes: list[list[Probe]] = field(default_factory=list)
    largest_difference: dict[str, float] = field(default_factory=dict)

    @property
    def ideal(self) -> float:
        """Tokens of all prompts for each distinct token: what perfect sharing would gain."""
        return self.tokens["prompt_tokens"] / self.tokens["distinct_tokens"]

    def against(self, engine: str) -> float:
        """Return how many times as long an engine takes as the shared one."""
        pairs = zip(self.seconds[engine], self.seconds["shared"], strict=True)
        return statistics.median(other / shared for other, shared in pairs)

    @property
    def ceiling_share(self) -> float:
        """Operations per second, over those of a large matrix product measured beside it."""
        return statistics.median(
            self.operations / seconds / statistics.median(large_rates(probes))
            for seconds, probes in zip(self.seconds["shared"], self.probes, strict=True)
        )

    @property
    def ceiling_limit(self) -> float:
        """The same of the checkpoint's weight products alone, the most an engine can reach."""
        return statistics.median(probe.limit for probes in self.probes for probe in probes)


def large_rates(probes: Sequence[Probe]) -> list[float]:
    """Return all rates of a large matrix product."""
    return [rate for probe in probes for rate in probe.large]


def assembled(
    measured: Mapping[str, Measured],
    peak_memory: Mapping[str, Mapping[str, float]],
    machine: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the whole result as plain data."""
    compared = {key: found for key, found in measured.items() if len(found.seconds) > 1}
    against_plain = {key: found.against("plain") for key, found in compared.items()}
    probed = [found for found in measured.values() if found.probes]
    rates = large_rates([probe for found in probed for probes in found.probes for probe in probes])
    result = {
        "against_lm_eval": {key: found.against("lm_eval") for key, found in compared.items()},
        "against_plain": against_plain,
        "ideal": {key: found.ideal for key, found in compared.items()},
        "share_of_ideal": {key: against_plain[key] / compared[key].ideal for key in compared},
        "ceiling_share": {found.checkpoint: found.ceiling_share for found in probed},
        "ceiling_limit": {found.checkpoint: found.ceiling_limit for found in probed},
        "peak_memory": dict(peak_memory),
        "largest_difference": {key: found.largest_difference for key, found in compared.items()},
        "seconds": {key: found.seconds for key, found in measured.items()},
        "tokens": {key: found.tokens for key, found in measured.items()},
        "machine": {
            **machine,
            "matmul_gflops": statistics.median(rates) / 1e9 if rates else None,
        },
    }
    return {**result, "goals": judged(result)}


def judged(result: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return every goal with what was found and whether it is met."""
    goals: dict[str, dict[str, dict[str, Any]]] = {
        "against_lm_eval": {
            key: _judge(found, _lm_eval_goal(key, result["ideal"][key]))
            for key, found in result["against_lm_eval"].items()
        },
        "share_of_ideal": {
            key: _judge(found, SHARE_OF_IDEAL[key])
            for key, found in result["share_of_ideal"].items()
        },
        "ceiling_share": {
            name: _judge(found, CEILING_SHARE) for name, found in result["ceiling_share"].items()
        },
        "peak_memory": {
            key: _judge(found["ratio"], MOST_MEMORY, at_most=True)
            for key, found in result["peak_memory"].items()
        },
    }
    return goals


def _lm_eval_goal(key: str, ideal: float) -> float:
    if key in AGAINST_LM_EVAL_OF_IDEAL:
        return AGAINST_LM_EVAL_OF_IDEAL[key] * ideal
    return AGAINST_LM_EVAL[key]


def _judge(found: float, goal: float, at_most: bool = False) -> dict[str, Any]:
    met = found <= goal if at_most else found >= goal
    return {"found": found, "goal": goal, "at_most": at_most, "met": met}


def table(result: Mapping[str, Any]) -> str:
    """Return the result as text: medians of seconds, then every goal."""
    rows = [["work", *(f"{name} s" for name in ENGINES), "ideal", "difference"]]
    for key, seconds in result["seconds"].items():
        medians = [_number(seconds.get(name)) for name in ENGINES]
        ideal = result["ideal"].get(key)
        difference = max(result["largest_difference"].get(key, {}).values(), default=None)
        rows.append(
            [
                key,
                *medians,
                "" if ideal is None else f"{ideal:.2f}",
                "" if difference is None else f"{difference:.1e}",
            ]
        )
    goals = [["goal", "of", "found", "wanted", ""]]
    for name, entries in result["goals"].items():
        for key, entry in entries.items():
            wanted = f"{'≤' if entry['at_most'] else '≥'} {entry['goal']:.2f}"
            verdict = "met" if entry["met"] else "missed"
            goals.append([name, key, f"{entry['found']:.2f}", wanted, verdict])
    return f"{_aligned(rows)}\n\n{_aligned(goals)}"


def _number(values: Sequence[float] | None) -> str:
    return f"{statistics.median(values):.1f}" if values else ""


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
