"""What the workflow's rules ask of a configuration: ids, inputs and params.

Everything a rule hands to a script is a plain scalar or a list of them, so that
Snakemake can tell whether it changed. Nested settings travel as compact JSON with
sorted keys.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optionbias.config.loading import expand_variables, load_config, read_yaml
from optionbias.config.matrix import Cell, cell_matrix
from optionbias.config.model import Config
from optionbias.errors import UserError
from optionbias.fingerprint import code_fingerprint
from optionbias.orderings import ordering_name
from optionbias.readouts import READOUTS

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_BASE_MEMORY_MB = 4000


def plain_json(value: Any) -> str:
    """Return compact JSON with sorted keys, the same text for the same content."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


class Experiment:
    """A checked configuration, answering what the rules need to know.

    Methods that take ``wildcards`` fit Snakemake's input and params functions.
    """

    def __init__(self, config: Config, repository: Path) -> None:
        """Check that the files the configuration names exist.

        Args:
            config: the checked configuration.
            repository: folder of the Snakefile.

        Raises:
            UserError: a path does not exist; its key is named.
        """
        self.config = config
        self._repository = repository
        self._matrix = cell_matrix(config)
        self._check_paths()

    @classmethod
    def load(
        cls, content: Mapping[str, Any], config_files: Sequence[str], repository: str
    ) -> "Experiment":
        """Load from Snakemake's merged ``config`` after checking each file by itself.

        Raises:
            UserError: one message that lists every mistake.
        """
        for path in config_files:
            read_yaml(Path(path))  # finds keys written twice, which a merge would hide
        origin = ", ".join(str(path) for path in config_files) or "config"
        return cls(load_config(content, origin), Path(repository))

    # --- ids and paths ---

    @property
    def cells(self) -> list[Cell]:
        """The cells to run, sorted."""
        return list(self._matrix.cells)

    @property
    def checkpoints(self) -> list[str]:
        """Ids of the checkpoints that some cell uses, sorted."""
        return sorted({cell.checkpoint for cell in self.cells})

    @property
    def benchmarks(self) -> list[str]:
        """Ids of the benchmarks that some cell uses, sorted."""
        return sorted({cell.benchmark for cell in self.cells})

    @property
    def cell_paths(self) -> list[str]:
        """The files of all cells."""
        return [f"results/cells/{cell}.parquet" for cell in self.cells]

    def code(self, script: str) -> str:
        """Return the fingerprint of the code behind a script of the repository."""
        package = self._repository / "workflow/src/optionbias"
        return code_fingerprint(self._repository / "scripts" / script, package)

    # --- checkpoints ---

    def hub_checkpoint(self, wildcards: Any) -> str:
        """Return the hub source of a checkpoint as JSON."""
        return plain_json(self._hub_source(self.config.checkpoints[wildcards.checkpoint]))

    def checkpoint_source(self, wildcards: Any) -> str:
        """Return a checkpoint's source as JSON, paths expanded."""
        return plain_json(self._source("checkpoints", wildcards.checkpoint))

    def checkpoint_inputs(self, wildcards: Any) -> list[str]:
        """Return the files a checkpoint is prepared from, as far as rules can watch them."""
        source = self._source("checkpoints", wildcards.checkpoint)
        if source["type"] == "hub":
            return [f"results/checkpoints/{wildcards.checkpoint}.fetched.json"]
        if source["type"] == "package":
            return []
        path = Path(source["path"])
        files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.is_file())
        return [str(file) for file in files]

    def checkpoint_dir(self, _wildcards: Any) -> str:
        """Return the folder for assembled and converted weights, variables expanded."""
        return expand_variables(self.config.checkpoint_dir, "checkpoint_dir")

    def checkpoint_facts(self) -> str:
        """Return what the config says of the checkpoints in use, as JSON by id."""
        names = {"family", "parameters", "stage", "base", "dtype"}
        facts = {
            name: self.config.checkpoints[name].model_dump(include=names)
            for name in self.checkpoints
        }
        return plain_json(facts)

    # --- benchmarks ---

    def hub_benchmark(self, wildcards: Any) -> str:
        """Return the hub source of a benchmark as JSON."""
        return plain_json(self._hub_source(self.config.benchmarks[wildcards.benchmark]))

    def benchmark_source(self, wildcards: Any) -> str:
        """Return a benchmark's source as JSON, paths expanded, without its few-shot pool."""
        return plain_json(self._source("benchmarks", wildcards.benchmark))

    def pool_source(self, wildcards: Any) -> str:
        """Return a benchmark's source with its few-shot pool as JSON, paths expanded."""
        name = wildcards.benchmark
        return plain_json(self._source("benchmarks", name) | self._pool(name))

    def benchmark_inputs(self, wildcards: Any) -> list[str]:
        """Return the files a benchmark is prepared from."""
        source = self._source("benchmarks", wildcards.benchmark)
        if source["type"] == "hub":
            return [f"results/items/{wildcards.benchmark}.fetched.json"]
        return [source["path"]] if source["type"] == "files" else []

    def pool_inputs(self, wildcards: Any) -> list[str]:
        """Return the files a benchmark's few-shot examples are chosen from."""
        path = self._pool(wildcards.benchmark).get("pool_path")
        return [path] if path else self.benchmark_inputs(wildcards)

    def item_settings(self, wildcards: Any) -> str:
        """Return how a benchmark's items are chosen, as JSON."""
        names = {"n_options", "limit", "canonical_order", "order_dependent", "strip_blanks"}
        benchmark = self.config.benchmarks[wildcards.benchmark]
        settings = benchmark.model_dump(include=names)
        return plain_json(settings | {"seed": self.config.seeds.items})

    def n_shots(self, wildcards: Any) -> int:
        """Return how many few-shot examples the benchmark's panels need at most.

        Omitted cells count, so that leaving one out chooses no examples anew.
        """
        return self._most_shots(wildcards.benchmark)

    @property
    def shots_paths(self) -> list[str]:
        """The files of few-shot examples that some panel needs."""
        names = [name for name in self.benchmarks if self._most_shots(name)]
        return [f"results/items/{name}.shots.parquet" for name in names]

    # --- cells ---

    def cell_shots(self, wildcards: Any) -> list[str]:
        """Return the few-shot examples' file for readouts that show some."""
        if READOUTS[wildcards.readout].n_shots == 0:
            return []
        return [f"results/items/{wildcards.benchmark}.shots.parquet"]

    def cell_design(self, wildcards: Any) -> str:
        """Return the name of a cell's design."""
        return self._matrix.cells[_cell(wildcards)].name

    def cell_orderings(self, wildcards: Any) -> list[str]:
        """Return a cell's orderings in the store's text form."""
        return [ordering_name(shown) for shown in self._matrix.cells[_cell(wildcards)].orderings]

    def cell_limit(self, wildcards: Any) -> str:
        """Return how many items a cell asks at most and the seed of the choice, as JSON."""
        limit = self._matrix.cells[_cell(wildcards)].limit
        return plain_json({"limit": limit, "seed": self.config.seeds.items})

    def prompt_style(self, wildcards: Any) -> str:
        """Return the prompt's parts of a cell's readout as JSON."""
        return plain_json(asdict(READOUTS[wildcards.readout].style))

    def computation(self, wildcards: Any) -> str:
        """Return how a checkpoint is loaded, as JSON."""
        names = {"dtype", "device", "device_map", "trust_remote_code"}
        checkpoint = self.config.checkpoints[wildcards.checkpoint]
        return plain_json(checkpoint.model_dump(include=names))

    def token_budget(self, wildcards: Any) -> int:
        """Return the most tokens a cell computes at once, 0 to choose from memory."""
        return self.config.checkpoints[wildcards.checkpoint].token_budget or 0

    def cell_memory_mb(self, wildcards: Any, attempt: int = 1) -> int:
        """Return the memory a cell asks for, doubled with every attempt."""
        checkpoint = self.config.checkpoints[wildcards.checkpoint]
        weights = checkpoint.parameters * _BYTES[checkpoint.dtype] // 2**20
        return (_BASE_MEMORY_MB + 2 * weights) * int(2 ** (attempt - 1))

    # --- store and statistics ---

    @property
    def few_shot_readouts(self) -> list[str]:
        """Names of the readouts that show solved examples."""
        return sorted(name for name, readout in READOUTS.items() if readout.n_shots)

    @property
    def reported_apart(self) -> list[str]:
        """Ids of the benchmarks whose order-dependent items are reported apart, sorted."""
        policies = {name: self.config.benchmarks[name].order_dependent for name in self.benchmarks}
        return [name for name, policy in policies.items() if policy == "report"]

    def store_settings(self) -> str:
        """Return the seeds and shares that shape the store, as JSON."""
        seeds, statistics = self.config.seeds, self.config.statistics
        return plain_json(
            {
                "tie_seed": seeds.ties,
                "calibration_seed": seeds.calibration,
                "calibration_share": statistics.calibration_share,
            }
        )

    def factor_settings(self) -> str:
        """Return the settings of the factors, as JSON."""
        names = {"bootstrap_draws", "noise_draws", "few_flipping_items"}
        settings = self.config.statistics.model_dump(include=names)
        return plain_json(settings | {"seed": self.config.seeds.statistics})

    def omitted(self) -> str:
        """Return the cells left out with their reasons, as JSON."""
        return plain_json([omission.model_dump() for omission in self._matrix.omitted])

    def order_dependent_policies(self) -> str:
        """Return the policy for order-dependent items by benchmark, as JSON."""
        return plain_json(
            {name: self.config.benchmarks[name].order_dependent for name in self.benchmarks}
        )

    # --- helpers ---

    def _most_shots(self, benchmark: str) -> int:
        panels = [panel for panel in self.config.panels if benchmark in panel.benchmarks]
        readouts = [readout for panel in panels for readout in panel.readouts]
        return max((READOUTS[name].n_shots for name in readouts), default=0)

    def _source(self, kind: str, name: str) -> dict[str, Any]:
        source: dict[str, Any] = getattr(self.config, kind)[name].source.model_dump()
        if "path" in source:
            source["path"] = expand_variables(source["path"], f"{kind}.{name}.source.path")
        return source

    def _pool(self, benchmark: str) -> dict[str, str | None]:
        pool = self.config.benchmarks[benchmark].few_shot
        if pool is None:
            return {}
        path = pool.path and expand_variables(pool.path, f"benchmarks.{benchmark}.few_shot.path")
        return {"pool_path": path, "pool_split": pool.split}

    def _hub_source(self, entry: Any) -> dict[str, Any]:
        if entry.source.type != "hub":
            raise UserError("only sources of type 'hub' are fetched")
        source: dict[str, Any] = entry.source.model_dump()
        return source

    def _check_paths(self) -> None:
        for name in self.checkpoints:
            path = self._source("checkpoints", name).get("path")
            _check_exists(path, f"checkpoints.{name}.source.path")
        for name in self.benchmarks:
            path = self._source("benchmarks", name).get("path")
            _check_exists(path, f"benchmarks.{name}.source.path")
            _check_exists(self._pool(name).get("pool_path"), f"benchmarks.{name}.few_shot.path")


def _check_exists(path: str | None, key: str) -> None:
    if path and not Path(path).exists():
        raise UserError(f"{key}: {path} does not exist (relative paths start at {Path.cwd()})")


def _cell(wildcards: Any) -> Cell:
    return Cell(wildcards.readout, wildcards.benchmark, wildcards.checkpoint)
