"""One look for every figure, and the only way a figure reaches the disk.

Figures use matplotlib's object interface (no pyplot), so drawing one leaves no
state behind. Colours are Okabe and Ito's colour-blind-safe set; markers differ
too, so every figure also reads in grey.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from optionbias.atomic import replacing

ONE_COLUMN = 3.4
TWO_COLUMNS = 7.0
DOTS_PER_INCH = 200
NOTE_SIZE = 6.5

COLOURS = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#E69F00",  # orange
    "#000000",  # black
    "#56B4E9",  # sky blue
    "#7A6A00",  # a dark yellow: Okabe and Ito's own is too pale for thin marks on white
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
GREY = "#595959"
PALE_GREY = "#C8C8C8"

SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": True,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.handletextpad": 0.4,
    "lines.linewidth": 1.0,
    "figure.dpi": DOTS_PER_INCH,
    "savefig.dpi": "figure",
    "savefig.facecolor": "white",
    # TrueType outlines stay selectable and editable; Type 3 is refused by many publishers.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    # Outlines, so that the drawing looks the same where DejaVu Sans is not installed.
    "svg.fonttype": "path",
    # Without a fixed salt the ids inside an SVG would differ at every rendering.
    "svg.hashsalt": "optionbias",
}

METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "optionbias"},
    "pdf": {"CreationDate": None, "Creator": "optionbias", "Producer": "optionbias"},
    "png": {"Software": "optionbias"},
}


@contextmanager
def house_style() -> Iterator[None]:
    """Apply the house style inside a ``with`` block, whatever the user's matplotlibrc says."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of ``width`` × ``height`` inches with an Agg canvas.

    Call it inside :func:`house_style`; what fits is arranged by the constrained layout.
    """
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def freeze_layout(figure: Figure) -> None:
    """Arrange a figure once and keep its axes where they are.

    Labels placed afterwards by their measured size stay where they were measured.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def save_figure(figure: Figure, stem_path: Path) -> list[Path]:
    """Write ``<stem_path>.svg``, ``.pdf`` and ``.png`` and return the three paths.

    The same figure gives the same bytes every time: no dates, fixed names of the
    creating program. Each file is written under a temporary name and then renamed,
    so that an interrupted run leaves no half-written figure.
    """
    written = []
    for suffix, metadata in METADATA.items():
        path = stem_path.with_name(f"{stem_path.name}.{suffix}")
        with replacing(path) as temporary, house_style():
            figure.savefig(temporary, format=suffix, metadata=metadata)
        written.append(path)
    return written
