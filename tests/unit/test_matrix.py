"""The matrix of cells: panels united, overlapping designs, limits, omissions."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from optionbias.config.loading import load_config
from optionbias.config.matrix import Cell, CellDesign, cell_matrix
from optionbias.orderings import all_design, cyclic_and_reversed_design, cyclic_design

NAMES = ("a", "b", "c")
CHECKPOINT = {
    "source": {"type": "path", "path": "x"}, "family": "F", "parameters": 1, "stage": "base",
}  # fmt: skip
BENCHMARKS = {
    name: {
        "source": {"type": "files", "path": "x.jsonl"},
        "n_options": n_options,
        "few_shot": {"path": "pool.jsonl"},
    }
    for name, n_options in zip(NAMES, (4, 4, 3), strict=True)
}


def designs(*panels: dict[str, Any], omit: list[Cell] | None = None) -> dict[Cell, CellDesign]:
    whole = {"checkpoints": ["a"], "benchmarks": ["a"], "readouts": ["zero_shot"]}
    content = {
        "checkpoints": dict.fromkeys(NAMES, CHECKPOINT),
        "benchmarks": BENCHMARKS,
        "panels": [whole | panel for panel in panels],
        "omit": [vars(cell) | {"reason": "left out"} for cell in omit or []],
    }
    return cell_matrix(load_config(content)).cells


def only(*panels: dict[str, Any]) -> CellDesign:
    (design,) = designs(*panels).values()
    return design


def test_a_panel_is_the_product_of_its_lists() -> None:
    cells = designs(
        {
            "checkpoints": ["b", "a"],
            "benchmarks": ["a", "c"],
            "readouts": ["zero_shot", "five_shot"],
        }
    )
    assert list(cells) == sorted(
        Cell(readout, benchmark, checkpoint)
        for readout in ("zero_shot", "five_shot")
        for benchmark in ("a", "c")
        for checkpoint in ("a", "b")
    )


def test_default_design_is_cyclic_and_reversed() -> None:
    assert only({}).orderings == tuple(cyclic_and_reversed_design(4))


def test_named_design_is_taken_for_each_benchmarks_option_count() -> None:
    cells = designs({"benchmarks": ["a", "c"], "design": "cyclic"})
    found = {cell.benchmark: design.orderings for cell, design in cells.items()}
    assert found == {"a": tuple(cyclic_design(4)), "c": tuple(cyclic_design(3))}


def test_panels_that_do_not_overlap_keep_their_own_designs() -> None:
    cells = designs({"design": "cyclic"}, {"checkpoints": ["b"], "design": "all"})
    assert [design.name for design in cells.values()] == ["cyclic", "all"]


def test_larger_design_takes_the_place_of_one_it_holds_whichever_panel_is_first() -> None:
    small, large = {"design": "cyclic"}, {"design": "all"}
    for panels in ((small, large), (large, small), (small, large, small)):
        assert only(*panels) == CellDesign("all", tuple(all_design(4)), None)


def test_designs_that_do_not_hold_each_other_are_united_without_asking_twice() -> None:
    listed = [[1, 0, 2, 3], [0, 1, 2, 3]]
    design = only({"design": "cyclic"}, {"design": listed})
    assert design.name == "cyclic|list"
    assert design.orderings == (*cyclic_design(4), (1, 0, 2, 3))


def test_repeats_of_an_ordering_survive_a_union() -> None:
    twice = [[0, 1, 2, 3], [0, 1, 2, 3]]
    for panels in (({"design": twice}, {"design": "cyclic"}),
                   ({"design": "cyclic"}, {"design": twice})):  # fmt: skip
        assert Counter(only(*panels).orderings) == Counter([*cyclic_design(4), (0, 1, 2, 3)])


def test_same_panel_twice_asks_nothing_twice() -> None:
    assert only({"design": "cyclic"}, {"design": "cyclic"}).orderings == tuple(cyclic_design(4))
    listed_twice = only({"design": "cyclic", "checkpoints": ["a", "a"]})
    assert listed_twice.orderings == tuple(cyclic_design(4))


def test_wider_limit_wins_and_no_limit_is_the_widest() -> None:
    assert only({"limit": 5}).limit == 5
    assert only({"limit": 5}, {"limit": 9}).limit == 9
    assert only({"limit": 9}, {"limit": 5}).limit == 9
    assert only({"limit": 5}, {}).limit is None
    assert only({}, {"limit": 5}).limit is None
    assert only({"limit": 5, "design": "all"}, {"limit": 9, "design": "cyclic"}).limit == 9


def test_omitted_cell_is_left_out_and_told_with_its_reason() -> None:
    cell = Cell("zero_shot", "a", "b")
    content = {
        "checkpoints": dict.fromkeys(NAMES, CHECKPOINT),
        "benchmarks": BENCHMARKS,
        "panels": [{"checkpoints": ["a", "b"], "benchmarks": ["a"], "readouts": ["zero_shot"]}],
        "omit": [vars(cell) | {"reason": "gated"}],
    }
    matrix = cell_matrix(load_config(content))
    assert list(matrix.cells) == [Cell("zero_shot", "a", "a")]
    assert [omission.reason for omission in matrix.omitted] == ["gated"]


def test_omission_takes_a_cell_out_of_every_panel_that_has_it() -> None:
    cells = designs(
        {"checkpoints": ["a", "b"]}, {"checkpoints": ["b"], "design": "all"},
        omit=[Cell("zero_shot", "a", "b")],
    )  # fmt: skip
    assert list(cells) == [Cell("zero_shot", "a", "a")]


ORDERINGS_OF_THREE = st.lists(st.permutations(range(3)), min_size=1, max_size=6)
PANELS = st.fixed_dictionaries(
    {
        "checkpoints": st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
        "benchmarks": st.just(["c"]),
        "readouts": st.lists(st.sampled_from(["zero_shot", "five_shot"]), min_size=1, max_size=2),
        "design": st.sampled_from(["cyclic", "cyclic+reversed", "all"]) | ORDERINGS_OF_THREE,
        "limit": st.none() | st.integers(1, 9),
    }
)


@given(panels=st.lists(PANELS, min_size=1, max_size=4))
def test_every_cell_is_asked_what_its_fullest_panel_asks_and_no_more(
    panels: list[dict[str, Any]],
) -> None:
    cells = designs(*panels)
    expected: dict[Cell, Counter[Any]] = {}
    for panel in panels:
        asked = designs(panel)
        for cell, design in asked.items():
            expected[cell] = expected.get(cell, Counter()) | Counter(design.orderings)
    assert {cell: Counter(design.orderings) for cell, design in cells.items()} == expected


@given(panels=st.lists(PANELS, min_size=2, max_size=4), data=st.data())
def test_sequence_of_the_panels_changes_neither_cells_nor_orderings(
    panels: list[dict[str, Any]], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(panels))
    first, second = designs(*panels), designs(*shuffled)
    assert list(first) == list(second)
    for cell, design in first.items():
        assert Counter(design.orderings) == Counter(second[cell].orderings)
        assert design.limit == second[cell].limit
