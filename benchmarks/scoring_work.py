"""What the scoring benchmark asks: checkpoints, items and prompts, all made by the pipeline's code.

The checkpoints and benchmarks are those of config/panel.yaml, so that what is measured here is
what `make panel` computes.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from optionbias.checkpoints.manifest import load_manifest, read_manifest, write_manifest
from optionbias.checkpoints.prepare import prepare_package
from optionbias.config.experiment import Experiment
from optionbias.config.loading import load_config_file
from optionbias.config.model import Config, PackageCheckpointSource
from optionbias.errors import UserError
from optionbias.items.item import Item
from optionbias.items.prepare import item_settings, prepare_benchmark
from optionbias.items.shots import prepare_shots
from optionbias.items.sources import read_pool, read_source
from optionbias.orderings import design_orderings
from optionbias.prompts import PromptStyle, build_prompt
from optionbias.readouts import readout_named

REPOSITORY = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
CHECKPOINTS = RESULTS / "checkpoints"
PANEL = REPOSITORY / "config/panel.yaml"

ENGINES = ("lm_eval", "plain", "shared")
FEWEST_ITEMS = 2
"""A trial with one item would share nothing between items."""


@dataclass(frozen=True)
class Work:
    """One checkpoint that answers some items of one benchmark.

    Attributes:
        key: name of the work in the result.
        checkpoint, benchmark, readout, design: as in the configuration.
        n_items: items asked.
        engines: the engines that are measured.
        ceiling: whether its arithmetic is compared with a large matrix product.
        memory: whether the shared engine's peak memory is measured.
    """

    key: str
    checkpoint: str
    benchmark: str
    n_items: int
    readout: str = "zero_shot"
    design: str = "cyclic+reversed"
    engines: tuple[str, ...] = ENGINES
    ceiling: bool = False
    memory: bool = False


SMALL, LARGE_VOCABULARY, LARGEST = (
    "smollm2-135m-instruct",
    "gemma-3-270m",
    "qwen2.5-coder-0.5b-instruct",
)

WORKS = (
    Work("zero_shot", SMALL, "arc_easy", 40, ceiling=True, memory=True),
    Work("five_shot", SMALL, "arc_easy", 16, readout="five_shot", memory=True),
    Work("all_orderings", SMALL, "arc_easy", 16, design="all"),
    Work("ten_options", SMALL, "mmlu_pro", 8),
    Work("large_vocabulary", LARGE_VOCABULARY, "arc_easy", 40, memory=True),
    Work("ceiling", LARGEST, "arc_easy", 16, engines=("shared",), ceiling=True),
)


def works_named(names: str) -> list[Work]:
    """Return the works with these keys, joined by commas; all of them for an empty text.

    Raises:
        UserError: there is no such work; the message lists those there are.
    """
    known = {work.key: work for work in WORKS}
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(known)
    for name in wanted:
        if name not in known:
            raise UserError(f"--keys: there is no work '{name}'; choose from {', '.join(known)}")
    return [work for work in WORKS if work.key in wanted]


def checkpoint_source(config: Config, checkpoint: str) -> PackageCheckpointSource:
    """Return where the panel takes a checkpoint from.

    Raises:
        UserError: the panel does not take it from packages.
    """
    source = config.checkpoints[checkpoint].source
    if not isinstance(source, PackageCheckpointSource):
        raise UserError(f"{PANEL}: checkpoint '{checkpoint}' must come from packages")
    return source


def requirements(works: Sequence[Work]) -> list[str]:
    """Return the packages that ship these works' weights, as ``name==version``."""
    config = load_config_file(PANEL)
    checkpoints = dict.fromkeys(work.checkpoint for work in works)
    return [
        requirement
        for checkpoint in checkpoints
        for requirement in checkpoint_source(config, checkpoint).requirements
    ]


def load_panel() -> Experiment:
    """Return the panel's experiment.

    Raises:
        UserError: OPTIONBIAS_CASES is not set, or its folder lacks a file.
    """
    return Experiment(load_config_file(PANEL), REPOSITORY)


def prepared_folder(config: Config, checkpoint: str) -> Path:
    """Return the folder of a checkpoint, prepared unless an earlier run has done it.

    Raises:
        UserError: a package is missing, or a prepared file has changed.
    """
    source, manifest_path = (
        checkpoint_source(config, checkpoint),
        CHECKPOINTS / f"{checkpoint}.json",
    )
    pinned = f"sha256:{source.sha256}"
    if not manifest_path.is_file() or load_manifest(manifest_path).revision != pinned:
        print(f"preparing {checkpoint}", flush=True)
        manifest = prepare_package(
            checkpoint, source.requirements, source.files, source.sha256, CHECKPOINTS
        )
        write_manifest(manifest, manifest_path)
    return Path(read_manifest(manifest_path).folder)


@dataclass(frozen=True)
class Questions:
    """The prompts of one work.

    Attributes:
        prompts: every item under every ordering.
        style: the prompt's parts, for the replies.
        n_options: K.
    """

    prompts: list[str]
    style: PromptStyle
    n_options: int


def read_questions(work: Work, experiment: Experiment, items_scale: float) -> Questions:
    """Return the prompts of a work, exactly as the pipeline asks them.

    Args:
        work: what to ask.
        experiment: the panel's experiment.
        items_scale: factor on the number of items, for quick trials.

    Raises:
        UserError: the items cannot be read, or there are too few.
    """
    readout = readout_named(work.readout)
    usable, shots = _items_and_shots(work.benchmark, experiment, readout.n_shots)
    n_items = max(FEWEST_ITEMS, round(work.n_items * items_scale))
    if n_items > len(usable):
        raise UserError(
            f"{work.key}: {n_items} items are asked for, but benchmark '{work.benchmark}' has "
            f"only {len(usable)} usable ones"
        )
    # An even stride, since many files are sorted by subject or by difficulty.
    items = [usable[index * len(usable) // n_items] for index in range(n_items)]
    orderings = design_orderings(work.design, items[0].n_options)
    prompts = [
        build_prompt(item, shown, shots, readout.style) for item in items for shown in orderings
    ]
    return Questions(prompts, readout.style, items[0].n_options)


def prepared_work(key: str, items_scale: float) -> tuple[Work, Path, Questions]:
    """Return one work with its checkpoint's folder and its prompts.

    Raises:
        UserError: there is no such work, or its weights or items cannot be had.
    """
    (work,) = works_named(key)
    experiment = load_panel()
    folder = prepared_folder(experiment.config, work.checkpoint)
    return work, folder, read_questions(work, experiment, items_scale)


def _items_and_shots(
    benchmark: str, experiment: Experiment, n_shots: int
) -> tuple[Sequence[Item], list[Item]]:
    """Return a benchmark's usable items, all of them, and its first few-shot examples."""
    wildcards = SimpleNamespace(benchmark=benchmark)
    details = json.loads(experiment.pool_source(wildcards))
    chosen = {**json.loads(experiment.item_settings(wildcards)), "limit": None}
    settings = item_settings(benchmark, details, chosen)
    prepared = prepare_benchmark(read_source(details, settings.seed, []).records, settings)
    if n_shots == 0:
        return prepared.items, []
    pool = read_pool(details, settings.seed, [])
    return prepared.items, prepare_shots(
        pool, settings, n_shots, prepared.items, prepared.canonical_order
    )
