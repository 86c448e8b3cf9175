"""Fixtures that several test folders share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder with real items and published probabilities, kept outside the repository."""
    folder = os.environ.get("OPTIONBIAS_CASES")
    if not folder:
        pytest.skip("OPTIONBIAS_CASES is not set")
    path = Path(folder)
    assert (path / "data").is_dir(), f"OPTIONBIAS_CASES={folder} holds no folder 'data'"
    return path
