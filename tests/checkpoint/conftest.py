"""The real checkpoints these tests load, prepared once per run from installed packages."""

from pathlib import Path

import pytest

from optionbias.checkpoints.manifest import CheckpointManifest
from optionbias.checkpoints.packages import package_files
from optionbias.checkpoints.prepare import prepare_package
from optionbias.config.loading import load_config_file
from optionbias.config.model import PackageCheckpointSource

DEMO = Path(__file__).parents[2] / "config/config.yaml"
CHECKPOINT = "smollm2-135m-instruct"


@pytest.fixture(scope="session")
def source() -> PackageCheckpointSource:
    """The demo's smallest checkpoint, as the demo pins it."""
    found = load_config_file(DEMO).checkpoints[CHECKPOINT].source
    assert isinstance(found, PackageCheckpointSource)
    return found


@pytest.fixture(scope="session")
def gguf(source: PackageCheckpointSource) -> Path:
    """The GGUF file that the package ships."""
    (path,) = package_files(CHECKPOINT, source.requirements, source.files, source.sha256)
    return path


@pytest.fixture(scope="session")
def prepared(
    source: PackageCheckpointSource, tmp_path_factory: pytest.TempPathFactory
) -> CheckpointManifest:
    """The checkpoint, converted into a folder of this run."""
    folder = tmp_path_factory.mktemp("checkpoints")
    return prepare_package(CHECKPOINT, source.requirements, source.files, source.sha256, folder)
