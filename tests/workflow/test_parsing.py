"""Parsing the rules is light: every remote job parses them again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
HEAVY = ["datasets", "duckdb", "matplotlib", "numpy", "polars", "scipy", "torch", "transformers"]
PROGRAM = """
import json, sys
from optionbias.config.experiment import Experiment
from optionbias.config.loading import read_yaml
from optionbias.config.missing import missing_cells
from optionbias.fingerprint import code_fingerprint
from pathlib import Path

file, repository = sys.argv[1:]
experiment = Experiment.load(read_yaml(Path(file)), [file], repository)
experiment.code("cells/score_cell.py")
print(json.dumps([len(experiment.cells), sorted(sys.modules)]))
"""
RULE_FILES = [REPOSITORY / "Snakefile", *sorted((REPOSITORY / "workflow/rules").glob("*.smk"))]


def test_loading_an_experiment_imports_no_heavy_package() -> None:
    command = [sys.executable, "-c", PROGRAM, "config/config.yaml", str(REPOSITORY)]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    n_cells, modules = json.loads(done.stdout)
    assert n_cells > 0
    assert sorted(set(HEAVY) & set(modules)) == []


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.name)
def test_rule_file_imports_nothing_heavy_by_name(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    imports = [line for line in lines if line.strip().startswith(("import ", "from "))]
    assert not any(f" {name}" in line for line in imports for name in HEAVY)
