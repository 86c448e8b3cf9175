"""The prefix tree: each token once, every prompt a path, chunks and blocks that miss nothing."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from optionbias.scoring.blocks import Blocks, cheapest_length
from optionbias.scoring.prefix_tree import Chunk, PrefixTree, prefix_tree
from optionbias.scoring.queries import Query

TOKEN = st.integers(0, 2)  # few ids, so that prompts share much
PROMPTS = st.lists(st.lists(TOKEN, min_size=1, max_size=9).map(tuple), min_size=1, max_size=8)
CONTINUATIONS = st.lists(
    st.lists(TOKEN, min_size=1, max_size=3).map(tuple), min_size=1, max_size=4
).map(tuple)
QUERIES = st.lists(
    st.builds(Query, st.lists(TOKEN, min_size=1, max_size=9).map(tuple), CONTINUATIONS),
    min_size=1,
    max_size=8,
)
LETTERS = ((7,), (8,))


def path_to(tree: PrefixTree, index: int) -> list[int]:
    """Indices of the tokens from the root to one token, by the rule that the tree states."""
    return [first for first in range(index + 1) if first <= index < tree.ends[first]]


def tokens_to(tree: PrefixTree, index: int) -> tuple[int, ...]:
    return tuple(tree.tokens[path_to(tree, index)].tolist())


@given(QUERIES)
def test_every_read_stands_behind_exactly_its_prompt_and_continuation(
    queries: list[Query],
) -> None:
    tree = prefix_tree(queries)
    read = sorted(
        (read.query, read.continuation, tokens_to(tree, read.index), read.token)
        for read in tree.reads
    )
    expected = sorted(
        (number, which, query.prompt + continuation[:step], continuation[step])
        for number, query in enumerate(queries)
        for which, continuation in enumerate(query.continuations)
        for step in range(len(continuation))
    )
    assert read == expected


@given(QUERIES)
def test_no_token_is_computed_twice_and_none_without_need(queries: list[Query]) -> None:
    tree = prefix_tree(queries)
    paths = [tokens_to(tree, index) for index in range(len(tree))]
    rows = [q.prompt + c[:-1] for q in queries for c in q.continuations]
    wanted = {row[:length] for row in rows for length in range(1, len(row) + 1)}
    assert len(paths) == len(set(paths))
    assert set(paths) == wanted


@given(QUERIES)
def test_depth_is_the_number_of_tokens_before(queries: list[Query]) -> None:
    tree = prefix_tree(queries)
    assert tree.depths.tolist() == [len(path_to(tree, index)) - 1 for index in range(len(tree))]


@given(QUERIES)
def test_unshared_tokens_are_those_of_each_distinct_row_of_each_query(
    queries: list[Query],
) -> None:
    rows = [{q.prompt + c[:-1] for c in q.continuations} for q in queries]
    assert prefix_tree(queries).row_tokens == sum(len(row) for found in rows for row in found)


@given(QUERIES, st.integers(1, 7))
def test_chunks_of_any_size_keep_every_token_that_a_later_one_continues(
    queries: list[Query], size: int
) -> None:
    tree = prefix_tree(queries)
    path = np.zeros(0, dtype=np.int64)
    for start in range(0, len(tree), size):
        chunk = Chunk(tree, path, start, min(len(tree), start + size))
        assert chunk.path.tolist() == path_to(tree, start)[:-1]
        path = chunk.keys[chunk.kept]
    assert path.size == 0, "keys and values were kept beyond the end"


@given(QUERIES, st.integers(1, 40), st.integers(1, 12), st.none() | st.integers(1, 6))
def test_blocks_of_any_length_show_each_token_its_prompt_within_the_window_and_nothing_else(
    queries: list[Query], size: int, length: int, window: int | None
) -> None:
    tree = prefix_tree(queries)
    start = min(size, len(tree) - 1)
    chunk = Chunk(tree, np.array(path_to(tree, start)[:-1], dtype=np.int64), start, len(tree))
    blocks = Blocks(chunk, length)
    visible = blocks.visible(window, torch.device("cpu")).numpy()
    for block, row in enumerate(blocks.queries):
        for place, index in enumerate(row):
            seen = blocks.places[block][visible[block, place]]
            expected = path_to(tree, int(index))
            if window is not None:
                expected = expected[-window:]
            assert sorted(chunk.keys[seen].tolist()) == expected


@given(QUERIES, st.integers(1, 12))
def test_blocks_hold_the_chunk_in_order_and_fill_up_with_its_last_token(
    queries: list[Query], length: int
) -> None:
    tree = prefix_tree(queries)
    chunk = Chunk(tree, np.zeros(0, dtype=np.int64), 0, len(tree))
    flat = Blocks(chunk, length).queries.ravel()
    assert flat[: len(tree)].tolist() == list(range(len(tree)))
    assert set(flat[len(tree) :].tolist()) <= {len(tree) - 1}


def test_prompts_that_share_nothing_are_laid_out_one_after_the_other() -> None:
    tree = prefix_tree([Query((1, 2), LETTERS), Query((3, 4, 5), LETTERS)])
    assert tree.tokens.tolist() == [1, 2, 3, 4, 5]
    assert tree.depths.tolist() == [0, 1, 0, 1, 2]
    assert tree.ends.tolist() == [2, 2, 5, 5, 5]


def test_example_of_the_documentation() -> None:
    prompts = [(1, 2, 5, 6), (1, 2, 6, 5), (1, 3, 7)]
    tree = prefix_tree([Query(prompt, LETTERS) for prompt in prompts])
    assert tree.tokens.tolist() == [1, 2, 5, 6, 6, 5, 3, 7]
    assert tree.depths.tolist() == [0, 1, 2, 3, 2, 3, 1, 2]
    assert tree.ends.tolist() == [8, 6, 4, 4, 6, 6, 8, 8]
    assert [read.index for read in tree.reads] == [3, 3, 5, 5, 7, 7]


def test_equal_prompts_cost_no_token_twice_and_are_all_read() -> None:
    tree = prefix_tree([Query((1, 2), LETTERS)] * 3)
    assert len(tree) == 2
    assert sorted(read.query for read in tree.reads) == [0, 0, 1, 1, 2, 2]


def test_no_queries_make_an_empty_tree() -> None:
    tree = prefix_tree([])
    assert (len(tree), tree.row_tokens, tree.reads) == (0, 0, ())


@pytest.mark.parametrize(
    ("shared", "items", "expected"),
    [(0, 40, 32), (2000, 4, 256)],
    ids=["short prompts", "a long few-shot prefix"],
)
def test_blocks_grow_with_what_each_must_gather(shared: int, items: int, expected: int) -> None:
    shots = tuple(range(1000, 1000 + shared))
    prompts = [(*shots, 1, item, *range(2, 24)) for item in range(items * 10)]
    tree = prefix_tree([Query(prompt, LETTERS) for prompt in prompts])
    path = np.arange(shared)
    chunk = Chunk(tree, path, shared, min(len(tree), shared + 1024))
    assert cheapest_length(chunk) == expected
