"""What a figure says, and whether it can be read."""

from itertools import combinations

from matplotlib.figure import Figure

from optionbias.figures.labels import visible_text_boxes
from optionbias.figures.style import house_style


def texts(figure: Figure) -> str:
    with house_style():
        return " ".join(" ".join(text for text, _ in visible_text_boxes(figure)).split())


def assert_readable(figure: Figure) -> None:
    with house_style():
        boxes = visible_text_boxes(figure)
    page = figure.bbox
    assert boxes
    for text, box in boxes:
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= page.x1 and box.y1 <= page.y1
        assert inside, f"'{text}' leaves the page"
    for (first, box), (second, other) in combinations(boxes, 2):
        # Neighbouring lines of one text may share the pixel between them.
        width = min(box.x1, other.x1) - max(box.x0, other.x0)
        height = min(box.y1, other.y1) - max(box.y0, other.y0)
        assert width <= 1.5 or height <= 1.5, f"'{first}' covers '{second}'"
