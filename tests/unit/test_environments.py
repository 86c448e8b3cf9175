"""The pinned environments hold the versions of the lock file."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = (line.split("==") for line in lines if line and not line.startswith("#"))
    return dict(pins)


def pinned(environment: Path) -> dict[str, str]:
    content = yaml.safe_load(environment.read_text())
    [packages] = [entry["pip"] for entry in content["dependencies"] if isinstance(entry, dict)]
    return dict(package.split("==") for package in packages)


@pytest.mark.parametrize("name", ["scoring", "analysis"])
def test_environment_has_the_versions_of_the_lock(name: str) -> None:
    pins = pinned(ROOT / f"envs/{name}.yaml")
    assert pins
    assert pins == {package: locked()[package] for package in pins}


def test_analysis_environment_does_without_torch_so_that_scoring_can_be_upgraded_alone() -> None:
    assert "torch" not in pinned(ROOT / "envs/analysis.yaml")
    assert "matplotlib" not in pinned(ROOT / "envs/scoring.yaml")


def test_lock_pins_torch_for_any_build() -> None:
    assert "+" not in locked()["torch"]
