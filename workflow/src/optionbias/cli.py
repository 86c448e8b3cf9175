"""The console script `optionbias`: check a configuration, list failed cells, write schemas."""

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from optionbias.atomic import write_text
from optionbias.config.documentation import config_keys, config_schema
from optionbias.config.experiment import Experiment
from optionbias.config.loading import load_config_file
from optionbias.config.missing import missing_cells, omission_lines
from optionbias.config.model import package_requirements
from optionbias.run_log import logged

ConfigFile = Annotated[Path, typer.Option("--config", help="Configuration file.")]
Directory = Annotated[
    Path, typer.Option(help="Working directory of the run: relative paths start there.")
]
DEFAULT_CONFIG = Path("config/config.yaml")

application = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)


@application.command()
def check(config: ConfigFile = DEFAULT_CONFIG, directory: Directory = Path()) -> None:
    """Check a configuration and say how many cells it describes."""
    with logged(None):
        loaded = load_config_file(config)
        directory.mkdir(parents=True, exist_ok=True)
        with contextlib.chdir(directory):
            experiment = Experiment(loaded, Path.cwd())
        counts = len(experiment.cells), len(experiment.checkpoints), len(experiment.benchmarks)
        print(f"{config}: {counts[0]} cells, {counts[1]} checkpoints, {counts[2]} benchmarks")


@application.command()
def missing(
    config: ConfigFile = DEFAULT_CONFIG,
    directory: Directory = Path(),
) -> None:
    """List the cells without a result, with the lines to paste under `omit`."""
    with logged(None):
        cells = missing_cells(load_config_file(config), directory)
        print(omission_lines(cells) if cells else "no cell is missing")


@application.command()
def requirements(config: ConfigFile = DEFAULT_CONFIG) -> None:
    """List the packages that ship the configuration's weights, to be installed --no-deps."""
    with logged(None):
        for requirement in package_requirements(load_config_file(config)):
            print(requirement)


@application.command("config-schema")
def write_config_schema(path: Path) -> None:
    """Write the JSON schema of the configuration to PATH."""
    with logged(None):
        write_text(path, config_schema())


@application.command("config-keys")
def write_config_keys(path: Path) -> None:
    """Write the page that lists every key of the configuration to PATH."""
    with logged(None):
        write_text(path, config_keys())


def main() -> None:
    """Run the console script."""
    application()
