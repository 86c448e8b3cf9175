"""Run one cell from its files: load, score, check, write."""

import platform
import resource
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from optionbias.cell_file import LOW_LETTER_MASS, CellFacts, write_cell
from optionbias.checkpoints.manifest import read_manifest
from optionbias.errors import UserError
from optionbias.items.item_file import read_items
from optionbias.items.limit import limit_items
from optionbias.orderings import Ordering, cyclic_design
from optionbias.prompts import PromptStyle
from optionbias.run_log import progress_bar
from optionbias.scoring.cell import score_cell
from optionbias.scoring.engine import scoring_engine
from optionbias.scoring.loading import load_checkpoint

_RECORDED = ("torch", "transformers", "tokenizers", "numpy", "optionbias")


@dataclass(frozen=True)
class CellJob:
    """Everything one cell needs to run.

    Attributes:
        readout, benchmark, checkpoint: the cell.
        design: name of its design.
        orderings: the design, a multiset.
        style: the prompt's parts.
        limit: most items asked, None for all.
        seed: seed of the choice of items.
        dtype, device, device_map, trust_remote_code: how the checkpoint is loaded.
        token_budget: most tokens computed at once, 0 to choose from memory.
        threads: CPU threads.
    """

    readout: str
    benchmark: str
    checkpoint: str
    design: str
    orderings: tuple[Ordering, ...]
    style: PromptStyle
    limit: int | None
    seed: int
    dtype: str
    device: str
    device_map: str | None
    trust_remote_code: bool
    token_budget: int
    threads: int


def run_cell(job: CellJob, manifest_path: Path, items_path: Path, shots_path: Path | None,
             cell_path: Path) -> CellFacts:  # fmt: skip
    """Score one cell and write its file.

    Args:
        job: what to run.
        manifest_path: the checkpoint's manifest.
        items_path: the benchmark's items.
        shots_path: few-shot examples, or None.
        cell_path: the file to write.

    Raises:
        UserError: a missing file, a letter that is not one token, no GPU where one
            is asked for, a budget that is no number.
    """
    if not isinstance(job.token_budget, int):
        raise UserError(
            f"the resource token_budget of rule score_cell must be a number of tokens, "
            f"not '{job.token_budget}'; correct it in the profile or on the command line"
        )
    torch.set_num_threads(job.threads)
    if not set(cyclic_design(len(job.orderings[0]))) <= set(job.orderings):
        print("note: this design lacks cyclic orderings, so the cell will have no factors")
    manifest = read_manifest(manifest_path)
    items = limit_items(read_items(items_path), job.limit, job.seed)
    shots = read_items(shots_path) if shots_path else []
    started = time.perf_counter()
    loaded = load_checkpoint(
        Path(manifest.folder),
        job.checkpoint,
        job.dtype,
        job.device,
        job.trust_remote_code,
        job.device_map,
    )
    load_seconds = time.perf_counter() - started
    print(f"loaded {job.checkpoint} on {loaded.device} in {load_seconds:.1f} s")
    engine = scoring_engine(loaded.model, job.token_budget or None)
    scores = score_cell(
        items, job.orderings, shots, job.style, loaded.encoder, engine, loaded.context,
        progress_bar("prompts"),
    )  # fmt: skip
    median_mass = scores.frame["letter_mass"].median()
    if isinstance(median_mass, float) and median_mass < LOW_LETTER_MASS:
        print(f"flagged: the letters' median probability together is only {median_mass:.3g}")
    facts = CellFacts(
        job.readout, job.benchmark, job.checkpoint, job.design, items[0].n_options, job.dtype,
        loaded.device, manifest.revision, engine.name, engine.token_budget, load_seconds,
        scores.score_seconds, scores.prompts, scores.tokens, scores.tokens_saved,
        scores.tokens / scores.score_seconds, peak_bytes(loaded.device), recorded_versions(),
    )  # fmt: skip
    write_cell(cell_path, scores.frame, facts, [item.item_id for item in items], job.orderings)
    return facts


def peak_bytes(device: str) -> int:
    """Return the peak memory so far: that of all GPUs on ``cuda``, else the process's."""
    if device == "cuda":
        devices = range(torch.cuda.device_count())
        return sum(int(torch.cuda.max_memory_allocated(device)) for device in devices)
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def recorded_versions() -> dict[str, str]:
    """Return the versions that shape a score: Python and the packages that compute it."""
    return {"python": platform.python_version(), **{name: version(name) for name in _RECORDED}}
