"""The matrix of cells: the union of the panels, less the cells left out."""

from collections import Counter
from dataclasses import dataclass, replace

from optionbias.config.model import Config, Omission, Panel
from optionbias.errors import UserError
from optionbias.orderings import Ordering, design_orderings


@dataclass(frozen=True, order=True)
class Cell:
    """One readout × benchmark × checkpoint, the unit of work (method, section 1)."""

    readout: str
    benchmark: str
    checkpoint: str

    def __str__(self) -> str:
        """Return the form used in paths and messages."""
        return f"{self.readout}/{self.benchmark}/{self.checkpoint}"


@dataclass(frozen=True)
class CellDesign:
    """The orderings a cell is asked under.

    Attributes:
        name: a named design, ``list`` for explicit orderings, or several joined
            by ``|`` when panels that overlap ask for different ones.
        orderings: the multiset of orderings, in the sequence they are asked.
        limit: most items asked, None for all of the benchmark's.
    """

    name: str
    orderings: tuple[Ordering, ...]
    limit: int | None


@dataclass(frozen=True)
class Matrix:
    """The experiment's cells and those left out.

    Attributes:
        cells: design of every cell to run, in sorted sequence of cells.
        omitted: the cells left out on purpose, with their reasons.
    """

    cells: dict[Cell, CellDesign]
    omitted: tuple[Omission, ...]


def cell_matrix(config: Config) -> Matrix:
    """Return the union of the panels without the omitted cells.

    Raises:
        UserError: a design does not fit a benchmark's options, an omission names
            no cell of the panels, or nothing is left to run.
    """
    designs: dict[Cell, CellDesign] = {}
    for index, panel in enumerate(config.panels):
        for cell, design in _panel_cells(config, panel, index):
            designs[cell] = _union(designs[cell], design) if cell in designs else design
    for omission in config.omit:
        cell = Cell(omission.readout, omission.benchmark, omission.checkpoint)
        if designs.pop(cell, None) is None:
            raise UserError(f"omit: no panel has the cell {cell}, or it is listed twice")
    if not designs:
        raise UserError("omit: every cell of the panels is left out; nothing is left to run")
    return Matrix({cell: designs[cell] for cell in sorted(designs)}, tuple(config.omit))


def _panel_cells(config: Config, panel: Panel, index: int) -> list[tuple[Cell, CellDesign]]:
    cells = []
    for benchmark in panel.benchmarks:
        try:
            orderings = design_orderings(panel.design, config.benchmarks[benchmark].n_options)
        except UserError as error:
            raise UserError(f"panels.{index}.design, benchmark '{benchmark}': {error}") from error
        name = panel.design if isinstance(panel.design, str) else "list"
        design = CellDesign(name, tuple(orderings), panel.limit)
        cells += [
            (Cell(readout, benchmark, checkpoint), design)
            for readout in panel.readouts
            for checkpoint in panel.checkpoints
        ]
    return cells


def _union(first: CellDesign, second: CellDesign) -> CellDesign:
    """Unite two designs: each ordering as often as in the fuller one, the wider limit."""
    limits = [design.limit for design in (first, second) if design.limit is not None]
    limit = max(limits) if len(limits) == 2 else None
    in_first, in_second = Counter(first.orderings), Counter(second.orderings)
    if in_second <= in_first:
        return replace(first, limit=limit)
    if in_first <= in_second:
        return replace(second, limit=limit)
    orderings = list(first.orderings)
    for shown in second.orderings:
        if orderings.count(shown) < in_second[shown]:
            orderings.append(shown)
    return CellDesign(f"{first.name}|{second.name}", tuple(orderings), limit)
