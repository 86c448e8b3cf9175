"""Where the shared engine's time goes.

    OPTIONBIAS_CASES=FOLDER python benchmarks/scoring_profile.py --key zero_shot

prints the seconds of every kind of operation, as PyTorch's profiler counts them. The weights
must have been prepared by `make bench-scoring`.
"""

import time
from collections import defaultdict
from typing import Annotated

import torch
import typer
from scoring_engines import OwnEngines
from scoring_work import Questions, prepared_work
from torch.profiler import ProfilerActivity, profile

from optionbias.run_log import logged

KINDS = {
    "aten::mm": "weight products",
    "aten::addmm": "weight products",
    "aten::bmm": "attention",
    "aten::baddbmm": "attention",
    "aten::_softmax": "attention",
    "aten::_scaled_dot_product_flash_attention_for_cpu": "attention",
}
OTHERS = "the arithmetic between them"
OUTSIDE = "Python, tokenising and the tree"


def profiled(engines: OwnEngines, questions: Questions) -> tuple[dict[str, float], str]:
    """Return seconds by kind of operation, largest first, and the profiler's own table."""
    started = time.perf_counter()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        engines.measure("shared", questions)
    wall = time.perf_counter() - started
    seconds: defaultdict[str, float] = defaultdict(float)
    events = profiler.key_averages()
    for event in events:
        seconds[KINDS.get(event.key, OTHERS)] += event.self_cpu_time_total / 1e6
    seconds[OUTSIDE] = wall - sum(seconds.values())
    largest_first = dict(sorted(seconds.items(), key=lambda pair: -pair[1]))
    return largest_first, events.table(sort_by="self_cpu_time_total", row_limit=15)


def main(
    key: Annotated[str, typer.Option(help="Work to profile, such as zero_shot.")],
    items_scale: Annotated[float, typer.Option(help="Factor on the items, for trials.")] = 1.0,
    threads: Annotated[int, typer.Option(min=1, help="Threads.")] = torch.get_num_threads(),
) -> None:
    """Profile the shared engine on one work of the benchmark."""
    with logged(None):
        torch.set_num_threads(threads)
        work, folder, questions = prepared_work(key, items_scale)
        engines = OwnEngines(folder, work.checkpoint)
        engines.measure("shared", questions)
        seconds, operators = profiled(engines, questions)
        print(operators)
        total = sum(seconds.values())
        for kind, spent in seconds.items():
            print(f"{kind:32}{spent:8.1f} s{100 * spent / total:6.0f}%")


if __name__ == "__main__":
    typer.run(main)
