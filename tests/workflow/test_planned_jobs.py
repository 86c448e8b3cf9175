"""What a change makes Snakemake run: the jobs concerned and no others."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planning import plan
from tiny_checkpoint import save_tiny_checkpoint
from tiny_experiment import (
    CELLS,
    LOCAL_ITEMS,
    REVISION,
    read_config,
    run_snakemake,
    write_config,
    write_items,
)

pytestmark = pytest.mark.workflow

Config = dict[str, Any]

STATISTICS = {
    "collect_answers", "compute_factors", "compute_pools", "compare_cells", "correlate_cells",
    "compute_variance_shares", "compute_cap_null", "compute_split_half",
    "compute_held_out_accuracy", "compute_margins", "compare_checkpoints",
}  # fmt: skip
FIGURES = {
    "plot_two_factors", "plot_factors_and_accuracy", "plot_canonical_margin", "plot_cap_null",
    "plot_post_training",
}  # fmt: skip
TABLES = {
    "tabulate_factors", "tabulate_checkpoints", "tabulate_pools", "tabulate_readings",
    "tabulate_variance_shares", "tabulate_reliability", "tabulate_correlations",
    "tabulate_opposite_directions", "tabulate_margin_controls", "tabulate_cap_controls",
    "tabulate_held_out_accuracy",
}  # fmt: skip
STORE_AND_LATER = {"build_store"} | STATISTICS | FIGURES | TABLES
LIBRARY = "workflow/src/optionbias"
NOTHING = "Nothing to be done"


def reconfigure(folder: Path, change: Callable[[Config], object]) -> None:
    """Change the configuration in place."""
    config = read_config(folder)
    change(config)
    write_config(folder, config)


def cells_of(*words: str) -> list[str]:
    """Return the cells whose path has one of the words, sorted."""
    return [cell for cell in CELLS if any(word in cell for word in words)]


def omit(folder: Path, readout: str, benchmark: str, checkpoint: str) -> None:
    """List one cell under `omit`."""
    entry = {"readout": readout, "benchmark": benchmark, "checkpoint": checkpoint, "reason": "lost"}
    reconfigure(folder, lambda config: config.update(omit=[entry]))


def add_line(path: Path, text: str) -> None:
    """Append one line to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def test_first_run_scores_the_cells_of_the_panels_and_no_others(unstarted: Path) -> None:
    planned = plan(unstarted)
    assert planned.cells == CELLS
    assert planned.of("fetch_checkpoint") == ["results/checkpoints/gamma.fetched.json"]
    assert len(planned.of("prepare_checkpoint")) == len(planned.of("prepare_items")) == 3
    assert planned.of("fetch_benchmark") == []
    assert planned.rules - {"prepare_items", "prepare_checkpoint", "fetch_checkpoint"} == {
        *STORE_AND_LATER, "prepare_shots", "score_cell", "plot_schematic", "copy_definitions",
    }  # fmt: skip


def test_parsing_the_rules_loads_no_heavy_package(unstarted: Path) -> None:
    assert plan(unstarted).parsed_imports == []


def test_complete_run_leaves_nothing_to_do(complete: Path) -> None:
    assert plan(complete).jobs == []


def test_recipe_for_one_cell_runs_that_cell_alone(complete: Path) -> None:
    cell = "results/cells/zero_shot/local/gamma.parquet"
    assert plan(complete, cell, forced=[cell]).jobs == [("score_cell", cell)]
    printed = run_snakemake(complete, "--dry-run", "--forcerun", cell, "--", cell).stdout
    assert "score_cell" in printed
    assert "build_store" not in printed


def test_recipe_for_one_cell_without_target_refreshes_what_depends_on_it(complete: Path) -> None:
    planned = plan(complete, forced=["results/cells/zero_shot/local/gamma.parquet"])
    assert planned.cells == ["results/cells/zero_shot/local/gamma.parquet"]
    assert planned.rules == STORE_AND_LATER | {"score_cell"}


def test_added_checkpoint_adds_its_own_cells_only(experiment: Path) -> None:
    shutil.copytree(experiment / "models/alpha", experiment / "models/delta")

    def add(config: Config) -> None:
        source = {"type": "path", "path": "models/delta"}
        config["checkpoints"]["delta"] = config["checkpoints"]["alpha"] | {"source": source}
        config["panels"][2]["checkpoints"].append("delta")

    reconfigure(experiment, add)
    planned = plan(experiment)
    assert planned.cells == ["results/cells/zero_shot/local/delta.parquet"]
    assert planned.of("prepare_checkpoint") == ["results/checkpoints/delta.json"]
    assert planned.rules == STORE_AND_LATER | {"prepare_checkpoint", "score_cell"}


def test_first_few_shot_panel_of_a_benchmark_scores_no_zero_shot_cell(experiment: Path) -> None:
    panel = {"checkpoints": ["alpha"], "benchmarks": ["capitals"], "readouts": ["five_shot"],
             "design": "cyclic"}  # fmt: skip
    reconfigure(experiment, lambda config: config["panels"].append(panel))
    planned = plan(experiment)
    assert planned.cells == ["results/cells/five_shot/capitals/alpha.parquet"]
    assert planned.rules == STORE_AND_LATER | {"prepare_shots", "score_cell"}


def test_changed_figure_is_drawn_again_alone(experiment: Path) -> None:
    add_line(experiment / LIBRARY / "figures/f01_two_factors.py", "ANOTHER_CONSTANT = 1")
    assert plan(experiment).jobs == [("plot_two_factors", "results/figures/f01_two_factors.svg")]


def test_changed_page_of_definitions_is_copied_again_alone(experiment: Path) -> None:
    add_line(experiment / "docs/definitions.md", "Another sentence.")
    assert plan(experiment).jobs == [("copy_definitions", "results/definitions.md")]


def test_changed_table_is_written_again_alone(experiment: Path) -> None:
    add_line(experiment / LIBRARY / "tables/t04_pools.py", "ANOTHER_CONSTANT = 1")
    assert plan(experiment).jobs == [("tabulate_pools", "results/tables/t04_pools.csv")]


def test_changed_statistic_scores_and_stores_nothing(experiment: Path) -> None:
    add_line(experiment / LIBRARY / "statistics/pairs.py", "ANOTHER_CONSTANT = 1")
    planned = plan(experiment)
    assert planned.rules == {
        "compare_cells", "plot_factors_and_accuracy", "tabulate_factors", "tabulate_readings",
        "tabulate_reliability",
    }  # fmt: skip


def test_changed_cap_null_computes_no_cell_again(experiment: Path) -> None:
    add_line(experiment / LIBRARY / "statistics/cap_null.py", "ANOTHER_CONSTANT = 1")
    assert plan(experiment).rules == {
        "compute_cap_null", "plot_cap_null", "tabulate_cap_controls"
    }  # fmt: skip


def test_changed_margin_leaves_the_factors(experiment: Path) -> None:
    add_line(experiment / LIBRARY / "statistics/margin.py", "ANOTHER_CONSTANT = 1")
    assert plan(experiment).rules == {
        "compute_margins", "plot_canonical_margin", "tabulate_margin_controls"
    }  # fmt: skip


def test_changed_scoring_code_scores_every_cell(experiment: Path) -> None:
    add_line(experiment / LIBRARY / "scoring/engine.py", "ANOTHER_CONSTANT = 1")
    planned = plan(experiment)
    assert planned.cells == CELLS
    assert planned.rules == STORE_AND_LATER | {"score_cell"}


def test_comments_and_docstrings_of_the_library_run_nothing(experiment: Path) -> None:
    for path in (experiment / LIBRARY).rglob("*.py"):
        add_line(path, '\n\n# A comment.\n"""A text that stands alone."""')
    assert plan(experiment).jobs == []


def test_changed_log_and_glue_modules_run_nothing(experiment: Path) -> None:
    for name in ("run_log", "script", "atomic", "errors"):
        add_line(experiment / LIBRARY / f"{name}.py", "ANOTHER_CONSTANT = 1")
    assert plan(experiment).jobs == []


RESCORING = {
    "revision on the hub": (
        lambda config: config["checkpoints"]["gamma"]["source"].update(revision=REVISION[::-1]),
        cells_of("gamma"),
    ),
    "digest of packages": (
        lambda config: config["checkpoints"]["beta"]["source"].update(sha256="0" * 64),
        cells_of("beta"),
    ),
    "dtype": (
        lambda config: config["checkpoints"]["beta"].update(dtype="bfloat16"),
        cells_of("beta"),
    ),
    "device": (
        lambda config: config["checkpoints"]["gamma"].update(device="auto"),
        cells_of("gamma"),
    ),
    "design": (
        lambda config: config["panels"][2].update(design="cyclic"),
        cells_of("local"),
    ),
    "limit of a panel": (
        lambda config: config["panels"][1].update(limit=5),
        cells_of("capitals/beta"),
    ),
    "limit of a benchmark": (
        lambda config: config["benchmarks"]["number_comparison"].update(limit=5),
        cells_of("number_comparison"),
    ),
    "seed of the items": (
        lambda config: config.update(seeds={"items": 1}),
        CELLS,
    ),
}


@pytest.mark.parametrize("name", RESCORING)
def test_setting_that_shapes_scores_scores_exactly_its_cells(experiment: Path, name: str) -> None:
    change, cells = RESCORING[name]
    reconfigure(experiment, change)
    planned = plan(experiment)
    assert planned.cells == cells
    assert planned.rules >= STORE_AND_LATER


def test_other_weights_in_a_folder_score_its_checkpoint_again(experiment: Path) -> None:
    save_tiny_checkpoint(experiment / "models/alpha", seed=7)
    planned = plan(experiment)
    assert planned.cells == cells_of("alpha")
    assert planned.of("prepare_checkpoint") == ["results/checkpoints/alpha.json"]


def test_other_text_of_an_item_scores_its_benchmark_again(experiment: Path) -> None:
    changed = {**LOCAL_ITEMS[0], "question": "Which word stands here?"}
    write_items(experiment, [changed, *LOCAL_ITEMS[1:]])
    planned = plan(experiment)
    assert planned.cells == cells_of("local")
    assert planned.of("prepare_items") == ["results/items/local.parquet"]


def test_items_file_written_again_with_equal_content_runs_nothing(experiment: Path) -> None:
    write_items(experiment, LOCAL_ITEMS)
    assert plan(experiment).jobs == []


def test_items_and_manifests_prepared_again_with_equal_content_run_nothing(
    experiment: Path,
) -> None:
    stages = ["prepare_items", "prepare_checkpoint"]
    done = run_snakemake(experiment, "--forcerun", *stages, "--until", *stages)
    assert done.returncode == 0, done.stdout[-3000:]
    assert plan(experiment).jobs == []


STORING = {
    "share of calibration items": lambda config: config["statistics"].update(calibration_share=0.4),
    "seed of the calibration": lambda config: config.update(seeds={"calibration": 1}),
    "seed of ties": lambda config: config.update(seeds={"ties": 1}),
    "family": lambda config: config["checkpoints"]["alpha"].update(family="Small"),
    "parameters": lambda config: config["checkpoints"]["alpha"].update(parameters=10**9),
    "stage": lambda config: config["checkpoints"]["alpha"].update(stage="post-trained"),
}


@pytest.mark.parametrize("name", STORING)
def test_setting_of_the_store_rebuilds_it_and_scores_nothing(experiment: Path, name: str) -> None:
    reconfigure(experiment, STORING[name])
    assert plan(experiment).rules == STORE_AND_LATER


def test_number_of_bootstrap_draws_keeps_the_store(experiment: Path) -> None:
    reconfigure(experiment, lambda config: config["statistics"].update(bootstrap_draws=300))
    rules = plan(experiment).rules
    assert {"compute_factors", "compare_cells"} <= rules
    assert not {"score_cell", "build_store", "compute_pools"} & rules


def test_token_budget_runs_nothing(complete: Path) -> None:
    options = ["--set-resources", "score_cell:token_budget=4"]
    assert NOTHING in run_snakemake(complete, "--dry-run", *options).stdout


def test_token_budget_of_the_config_runs_nothing(experiment: Path) -> None:
    reconfigure(experiment, lambda config: config["checkpoints"]["alpha"].update(token_budget=64))
    assert plan(experiment).jobs == []


def test_omitted_cell_leaves_the_others_and_the_figures(experiment: Path) -> None:
    (experiment / "results/cells/zero_shot/local/gamma.parquet").unlink()
    omit(experiment, "zero_shot", "local", "gamma")
    planned = plan(experiment)
    assert planned.rules == STORE_AND_LATER
    assert planned.of("plot_factors_and_accuracy")


def test_omitting_the_only_few_shot_cell_scores_no_other(experiment: Path) -> None:
    omit(experiment, "five_shot", "number_comparison", "alpha")
    assert plan(experiment).rules == STORE_AND_LATER


def test_accepted_change_of_the_scoring_code_scores_nothing(experiment: Path) -> None:
    add_line(experiment / LIBRARY / "scoring/engine.py", "ANOTHER_CONSTANT = 1")
    accepted = run_snakemake(experiment, "--touch", "cells")
    assert accepted.returncode == 0, accepted.stdout[-3000:]
    assert plan(experiment).cells == []
