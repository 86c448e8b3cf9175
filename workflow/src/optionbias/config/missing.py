"""Cells without a result, and the lines that leave them out."""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from optionbias.config.matrix import Cell, cell_matrix
from optionbias.config.model import Config
from optionbias.readouts import readout_named

# A message of `run_log`, or the last line of a traceback.
_ERROR = re.compile(r"(error:|[\w.]*(Error|Exception|Exit|Interrupt)\b)")


@dataclass(frozen=True)
class MissingCell:
    """A cell without a result and the line of its log that says why, if there is one."""

    cell: Cell
    reason: str | None


def missing_cells(config: Config, directory: Path) -> list[MissingCell]:
    """Return the cells whose file is not there.

    Args:
        config: the checked configuration.
        directory: folder that holds ``results``.
    """
    results = directory / "results"
    return [
        MissingCell(cell, _reason(results / "logs", cell))
        for cell in cell_matrix(config).cells
        if not (results / f"cells/{cell}.parquet").is_file()
    ]


def omission_lines(missing: Sequence[MissingCell]) -> str:
    """Return YAML for the key `omit`, with the log's error as a first reason."""
    entries = [{**asdict(entry.cell), "reason": entry.reason or "not run"} for entry in missing]
    return yaml.safe_dump(
        {"omit": entries},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=math.inf,
    ).rstrip()


def _reason(logs: Path, cell: Cell) -> str | None:
    """Return the error of the first job that a cell needs and that failed."""
    jobs = [
        *(f"{rule}/{cell.checkpoint}" for rule in ("fetch_checkpoint", "prepare_checkpoint")),
        *(f"{rule}/{cell.benchmark}" for rule in ("fetch_benchmark", "prepare_items")),
        *([f"prepare_shots/{cell.benchmark}"] if readout_named(cell.readout).n_shots else []),
        f"score_cell/{cell}",
    ]
    return next(filter(None, (_reason_in(logs / f"{job}.log") for job in jobs)), None)


def _reason_in(log: Path) -> str | None:
    if not log.is_file():
        return None
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    written = [line.strip() for line in lines if line.strip()]
    # A log may be that of an earlier success, when what failed is the checkpoint or the items.
    errors = [line for line in written if _ERROR.match(line)]
    return errors[-1][-200:] if errors else None
