"""Labels beside points that never cover one another, placed the same way every time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Affine2D, Bbox, TransformedBbox

Rectangle = tuple[float, float, float, float]

# Candidate places of a label in points from its own point, nearest first:
# (horizontal offset, vertical offset, horizontal alignment, vertical alignment).
CANDIDATES = tuple(
    candidate
    for distance in (2.5, 5.0, 9.0, 14.0, 20.0)
    for candidate in (
        (distance, distance, "left", "bottom"),
        (-distance, distance, "right", "bottom"),
        (distance, -distance, "left", "top"),
        (-distance, -distance, "right", "top"),
        (distance + 2, 0.0, "left", "center"),
        (-distance - 2, 0.0, "right", "center"),
        (0.0, distance + 2, "center", "bottom"),
        (0.0, -distance - 2, "center", "top"),
    )
)
MARGIN_POINTS = 0.5
MARKER_RADIUS_POINTS = 2.4
FARTHEST_WITHOUT_LEADER = 6.0


@dataclass(frozen=True)
class Label:
    """A text that belongs to the point (x, y), in data coordinates."""

    x: float
    y: float
    text: str
    colour: str = "black"


class _TextRecorder(RendererAgg):
    """An Agg renderer that notes where every text is drawn."""

    def __init__(self, figure: Figure) -> None:
        width, height = figure.bbox.size
        super().__init__(width, height, figure.dpi)  # type: ignore[no-untyped-call]
        self.boxes: list[tuple[str, Bbox]] = []

    def draw_text(self, *arguments: Any, **more: Any) -> None:
        """Note a text's box; the arguments are those of every matplotlib renderer."""
        _, x, y, text, font, angle, *rest = arguments
        ismath = rest[0] if rest else more.get("ismath", False)
        width, height, descent = self.get_text_width_height_descent(  # type: ignore[no-untyped-call]
            text, font, ismath
        )
        bottom = self.height - y
        box = Bbox.from_bounds(x, bottom - descent, width, height)
        turned = Affine2D().rotate_deg_around(x, bottom, angle)
        self.boxes.append((str(text), TransformedBbox(box, turned).frozen()))


def visible_text_boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return every line of text that drawing the figure puts on it, with its box in pixels."""
    recorder = _TextRecorder(figure)
    figure.draw(recorder)
    return [(text, box) for text, box in recorder.boxes if text.strip()]


def place_labels(
    axes: Axes,
    labels: Sequence[Label],
    avoid: Sequence[Rectangle] = (),
    *,
    size: float = 6.5,
    marker_radius: float = MARKER_RADIUS_POINTS,
    background: bool = False,
    leaders: bool = True,
) -> int:
    """Write labels beside their points and return how many found no free place.

    Args:
        axes: axes of a figure whose layout is frozen (``style.freeze_layout``).
        labels: in order of priority; each takes the first free candidate place.
        avoid: rectangles (left, bottom, right, top) in data coordinates that stay
            uncovered; a marker's or a whisker's may have no width or height.
        size: of the text, in points.
        marker_radius: of the labelled points, in points; labels stay outside it.
        background: put a white ground behind each text, for labels among many markers.
        leaders: allow places so far away that a thin line ties the label to its point.

    A label for which no candidate is free is not drawn. One that had to move away
    from its point is tied to it by a thin line.
    """
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure), "labels are placed on axes that belong to a figure"
    pixels_per_point = figure.dpi / 72.0
    taken = [box for _, box in visible_text_boxes(figure)]
    places = [(label.x, label.y, label.x, label.y) for label in labels]
    taken += _boxes(axes, places, marker_radius * pixels_per_point)
    taken += _boxes(axes, avoid, 0.5 * pixels_per_point)
    renderer = _canvas(figure).get_renderer()  # type: ignore[no-untyped-call]
    ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6}
    settings = {"fontsize": size, "bbox": ground if background else None}
    margin = MARGIN_POINTS * pixels_per_point
    dropped = 0
    for label in labels:
        box = _place(
            axes, label, taken, renderer=renderer, margin=margin, settings=settings, leaders=leaders
        )
        if box is None:
            dropped += 1
        else:
            taken.append(box)
    return dropped


def _place(
    axes: Axes,
    label: Label,
    taken: Sequence[Bbox],
    *,
    renderer: Any,
    margin: float,
    settings: dict[str, Any],
    leaders: bool,
) -> Bbox | None:
    frame = axes.get_window_extent(renderer)
    for dx, dy, horizontal, vertical in CANDIDATES:
        if not leaders and max(abs(dx), abs(dy)) > FARTHEST_WITHOUT_LEADER:
            continue
        annotation = axes.annotate(
            label.text,
            (label.x, label.y),
            xytext=(dx, dy),
            textcoords="offset points",
            ha=horizontal,
            va=vertical,
            color=label.colour,
            annotation_clip=False,
            arrowprops=_leader(label, max(abs(dx), abs(dy))),
            zorder=5,
            **settings,
        )
        box = _text_box(annotation, renderer).padded(margin)
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0
        if inside and box.y1 <= frame.y1 and not box.count_overlaps(list(taken)):
            return box
        annotation.remove()
    return None


def _text_box(annotation: Annotation, renderer: Any) -> Bbox:
    annotation.update_positions(renderer)
    return Text.get_window_extent(annotation, renderer)


def _leader(label: Label, distance: float) -> dict[str, Any] | None:
    if distance <= FARTHEST_WITHOUT_LEADER:
        return None
    line = {"arrowstyle": "-", "linewidth": 0.4, "color": label.colour}
    return line | {"shrinkA": 0.0, "shrinkB": MARKER_RADIUS_POINTS}


def _boxes(axes: Axes, rectangles: Sequence[Rectangle], growth: float) -> list[Bbox]:
    """Return rectangles in pixels, grown by ``growth`` on every side."""
    if not rectangles:
        return []
    corners = np.asarray(rectangles, dtype=np.float64).reshape(-1, 2)
    pixels = axes.transData.transform(corners).reshape(-1, 4)
    return [Bbox.from_extents(*place).padded(growth) for place in pixels]


def _canvas(figure: Figure) -> FigureCanvasAgg:
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg), "figures are made by style.new_figure"
    return canvas
