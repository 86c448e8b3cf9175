"""Cells without a result: found, with their last words, in lines that can be pasted."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from optionbias.config.loading import load_config
from optionbias.config.matrix import Cell, cell_matrix
from optionbias.config.missing import MissingCell, missing_cells, omission_lines
from optionbias.config.model import Config

CHECKPOINT = {
    "source": {"type": "path", "path": "models"}, "family": "f", "parameters": 1, "stage": "base",
}  # fmt: skip
CONTENT: dict[str, Any] = {
    "checkpoints": {"one": CHECKPOINT, "two": CHECKPOINT},
    "benchmarks": {
        "capitals": {"source": {"type": "builtin", "name": "capitals"}, "n_options": 4},
    },
    "panels": [
        {"checkpoints": ["one", "two"], "benchmarks": ["capitals"], "readouts": ["zero_shot"]}
    ],
}
FIRST, SECOND = Cell("zero_shot", "capitals", "one"), Cell("zero_shot", "capitals", "two")
AWKWARD_LINES = [
    'error: the letter "A" is 2 tokens',
    "error: C:\\models\\one does not exist",
    "error: {curly}: [square], # hash & *star",
    "100%|█████| 3528/3528 [00:02<00:00] 🎉",
    "tab\tinside",
    "\x1b[31mred\x1b[0m",
]


@pytest.fixture
def config() -> Config:
    return load_config(CONTENT)


def put(folder: Path, name: str, text: str | bytes = "") -> None:
    path = folder / "results" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)


def test_every_cell_is_missing_before_the_first_run(config: Config, tmp_path: Path) -> None:
    assert missing_cells(config, tmp_path) == [MissingCell(FIRST, None), MissingCell(SECOND, None)]


def test_scored_cell_is_not_listed(config: Config, tmp_path: Path) -> None:
    put(tmp_path, f"cells/{FIRST}.parquet")
    assert [entry.cell for entry in missing_cells(config, tmp_path)] == [SECOND]


def test_temporary_file_of_a_killed_cell_counts_for_nothing(config: Config, tmp_path: Path) -> None:
    put(tmp_path, "cells/zero_shot/capitals/.one.parquet.abc")
    assert [entry.cell for entry in missing_cells(config, tmp_path)] == [FIRST, SECOND]


def test_last_error_of_the_log_is_told(config: Config, tmp_path: Path) -> None:
    put(tmp_path, f"logs/score_cell/{FIRST}.log", "loading\nerror: no GPU\n\n  \n")
    put(tmp_path, f"logs/score_cell/{SECOND}.log", b"Traceback\nValueError: \xff broken\n")
    first, second = missing_cells(config, tmp_path)
    assert first.reason == "error: no GPU"
    assert second.reason == "ValueError: � broken"


@pytest.mark.parametrize("job", ["prepare_checkpoint/one", "prepare_items/capitals"])
def test_failure_of_what_a_cell_needs_is_its_reason(
    config: Config, tmp_path: Path, job: str
) -> None:
    put(tmp_path, f"logs/{job}.log", "error: holds no weights\n")
    put(tmp_path, f"logs/score_cell/{FIRST}.log", "error: of an earlier run\n")
    assert missing_cells(config, tmp_path)[0].reason == "error: holds no weights"


def test_failed_shots_are_no_reason_for_a_cell_without_shots(
    config: Config, tmp_path: Path
) -> None:
    put(tmp_path, "logs/prepare_shots/capitals.log", "error: no pool\n")
    assert missing_cells(config, tmp_path)[0].reason is None


def test_log_of_an_earlier_success_is_no_reason(config: Config, tmp_path: Path) -> None:
    put(tmp_path, f"logs/score_cell/{FIRST}.log", "loaded\n24 prompts in 1.0 s, 24.0 prompts/s\n")
    assert missing_cells(config, tmp_path)[0].reason is None


def test_empty_log_tells_nothing(config: Config, tmp_path: Path) -> None:
    put(tmp_path, f"logs/score_cell/{FIRST}.log")
    assert missing_cells(config, tmp_path)[0].reason is None


def test_cell_that_never_ran_has_a_reason() -> None:
    lines = yaml.safe_load(omission_lines([MissingCell(FIRST, None)]))
    assert lines["omit"][0]["reason"] == "not run"


@pytest.mark.parametrize("line", AWKWARD_LINES)
def test_printed_lines_can_be_pasted_into_the_configuration(
    config: Config, tmp_path: Path, line: str
) -> None:
    put(tmp_path, f"logs/score_cell/{FIRST}.log", f"error: {line}\n")
    put(tmp_path, f"cells/{SECOND}.parquet")
    pasted = yaml.safe_load(omission_lines(missing_cells(config, tmp_path)))
    matrix = cell_matrix(load_config(CONTENT | pasted))
    assert list(matrix.cells) == [SECOND]
    assert len(matrix.omitted[0].reason) > 0


def test_overlong_line_is_cut(config: Config, tmp_path: Path) -> None:
    put(tmp_path, f"logs/score_cell/{FIRST}.log", "error: " + "x" * 10_000)
    line = missing_cells(config, tmp_path)[0].reason
    assert line is not None
    assert len(line) <= 200


def test_ids_that_yaml_would_read_as_numbers_stay_ids(tmp_path: Path) -> None:
    content = CONTENT | {"checkpoints": {"1e5": CHECKPOINT, "007": CHECKPOINT}}
    content["panels"] = [CONTENT["panels"][0] | {"checkpoints": ["1e5", "007"]}]
    config = load_config(content)
    pasted = yaml.safe_load(omission_lines(missing_cells(config, tmp_path)[:1]))
    assert [cell.checkpoint for cell in cell_matrix(load_config(content | pasted)).cells] == ["1e5"]
