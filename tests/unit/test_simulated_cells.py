"""The simulated cells behind the tests of known truths and `make bench-statistics`."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from simulated_cells import SimulatedBenchmark, SimulatedCell, SimulatedCheckpoint
from simulated_cells import simulated_answers as answers_of
from simulated_panel import paper_panel, write_cells, write_config, write_store
from statistics_run import REPOSITORY, stage_rules

from optionbias.cell_answers import stored_cell_answers
from optionbias.config.experiment import Experiment
from optionbias.config.loading import read_yaml
from optionbias.orderings import cyclic_and_reversed_design, cyclic_design


def test_a_store_of_simulated_cells_gives_back_the_simulated_answers(tmp_path: Path) -> None:
    panel = paper_panel(n_checkpoints=2, n_items=25, n_benchmarks=3)
    store = write_store(panel, write_cells(panel, tmp_path), tmp_path)
    stored = list(stored_cell_answers(store))
    expected = [
        answers_of(benchmark, checkpoint.behaviour)
        for benchmark in panel.benchmarks
        for checkpoint in panel.checkpoints
    ]
    assert [cell.key for cell in stored] == [cell.key for cell in expected]
    for cell, direct in zip(stored, expected, strict=True):
        assert cell.item_ids == direct.item_ids
        assert cell.n_items == direct.n_items
        for name in ("contents", "near_tie", "gold", "averaged"):
            assert np.array_equal(getattr(cell, name), getattr(direct, name)), name
        assert np.allclose(cell.canonical_gap, direct.canonical_gap, atol=0)
        assert cell.flags["median_letter_mass"] == pytest.approx(direct.flags["median_letter_mass"])


def test_the_panel_has_the_size_of_the_paper() -> None:
    panel = paper_panel()
    assert panel.n_cells == 492
    assert (
        sorted(benchmark.n_options for benchmark in panel.benchmarks)
        == [2] * 3 + [4] * 7 + [10] * 2
    )
    families = pl.DataFrame([entry.facts for entry in panel.checkpoints])
    assert families["family"].n_unique() == 7
    names = {entry.behaviour.name for entry in panel.checkpoints}
    pairs = [entry.facts.base for entry in panel.checkpoints if entry.facts.base in names]
    assert len(pairs) == 20


def test_the_workflow_accepts_the_configuration_of_a_panel(tmp_path: Path) -> None:
    panel = paper_panel(n_checkpoints=3, n_items=5)
    path = write_config(panel, tmp_path)
    experiment = Experiment.load(read_yaml(path), [str(path)], str(tmp_path))
    assert len(experiment.cells) == panel.n_cells


def test_the_benchmark_runs_every_rule_of_the_stage() -> None:
    """Whatever the target `statistics` collects comes from a rule that the benchmark allows."""
    text = (REPOSITORY / "workflow/rules/across_cells_by_item.smk").read_text(encoding="utf-8")
    collected = set(re.findall(r"rules\.(\w+)\.output", text.partition("rule statistics:")[2]))
    assert len(collected) >= 11
    assert set(stage_rules()) == collected | {"statistics"}


def test_one_seed_gives_one_world() -> None:
    benchmark, design = SimulatedBenchmark("b", 4, 20), cyclic_and_reversed_design(4)
    first = SimulatedCell(benchmark, SimulatedCheckpoint("c")).letter_logprobs(design)
    again = SimulatedCell(SimulatedBenchmark("b", 4, 20), SimulatedCheckpoint("c"))
    assert first.dtype == np.float32
    assert first.shape == (20, 8, 4)
    assert np.array_equal(first, again.letter_logprobs(design))
    other = SimulatedCell(benchmark, SimulatedCheckpoint("c", seed=1)).letter_logprobs(design)
    assert not np.array_equal(first, other)


def test_letter_mass_is_what_was_asked_for() -> None:
    checkpoint = SimulatedCheckpoint("c", letter_mass=0.3)
    cell = SimulatedCell(SimulatedBenchmark("b", 4, 2_000), checkpoint)
    mass = np.exp(cell.letter_logprobs(cyclic_design(4)).astype(np.float64)).sum(axis=2)
    assert np.median(mass) == pytest.approx(0.3, abs=0.01)
    assert mass.max() < 1
