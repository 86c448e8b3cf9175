"""Prompts, golden to the byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optionbias.items.item import Item
from optionbias.orderings import letters
from optionbias.prompts import (
    CHAIN_OF_THOUGHT,
    DIRECT_ANSWER,
    PLAIN,
    PromptStyle,
    build_prompt,
    few_shot_prefix,
    question_body,
    solved_example,
)

SKY = Item("sky", "What colour is the sky?", ("red", "blue", "green"), 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def golden(item: Item, shown: tuple[int, ...], *rest: object) -> bytes:
    return build_prompt(item, shown, *rest).encode("utf-8")  # type: ignore[arg-type]


def test_plain_prompt_is_exactly_the_body_of_the_method() -> None:
    assert golden(SKY, (0, 1, 2)) == (
        b"Question: What colour is the sky?\nA. red\nB. blue\nC. green\nAnswer:"
    )


def test_options_stand_at_the_positions_the_ordering_gives_them() -> None:
    assert golden(SKY, (2, 0, 1)) == (
        b"Question: What colour is the sky?\nA. green\nB. red\nC. blue\nAnswer:"
    )


def test_passage_stands_before_the_question_with_one_newline() -> None:
    item = Item("p", "Who sang?", ("Ann", "Bo"), 0, passage="Ann sang.\nBo slept.")
    assert golden(item, (1, 0)) == (
        b"Ann sang.\nBo slept.\nQuestion: Who sang?\nA. Bo\nB. Ann\nAnswer:"
    )


def test_item_without_passage_has_no_empty_line_for_it() -> None:
    for passage in (None, ""):
        item = Item("p", "Who sang?", ("Ann", "Bo"), 0, passage=passage)
        assert golden(item, (0, 1)) == b"Question: Who sang?\nA. Ann\nB. Bo\nAnswer:"


def test_five_shot_prompt_has_each_example_with_letter_and_blank_line_in_canonical_order() -> None:
    shots = [Item(f"s{n}", f"Question {n}?", ("zero", "one"), n % 2) for n in range(5)]
    solved = "".join(
        f"Question: Question {n}?\nA. zero\nB. one\nAnswer: {'AB'[n % 2]}\n\n" for n in range(5)
    )
    asked = "Question: What colour is the sky?\nA. blue\nB. green\nC. red\nAnswer:"
    assert golden(SKY, (1, 2, 0), shots) == (solved + asked).encode()


def test_examples_are_the_same_under_every_ordering() -> None:
    shots = [Item("s", "Which?", ("zero", "one"), 1)]
    prefix = few_shot_prefix(shots)
    for shown in ((0, 1, 2), (2, 1, 0)):
        assert build_prompt(SKY, shown, shots) == prefix + question_body(SKY, shown)


def test_example_with_a_passage_shows_it() -> None:
    shot = Item("s", "Which?", ("zero", "one"), 0, passage="Zero it is.")
    assert solved_example(shot) == ("Zero it is.\nQuestion: Which?\nA. zero\nB. one\nAnswer: A\n\n")


def test_direct_answer_prompt_replaces_the_last_line_alone() -> None:
    assert golden(SKY, (0, 1, 2), (), DIRECT_ANSWER) == (
        b"Question: What colour is the sky?\nA. red\nB. blue\nC. green\n"
        b"Answer with the letter of the correct option only.\nAnswer:"
    )


def test_chain_of_thought_prompt_replaces_the_last_line_alone() -> None:
    assert golden(SKY, (0, 1, 2), (), CHAIN_OF_THOUGHT) == (
        b"Question: What colour is the sky?\nA. red\nB. blue\nC. green\n"
        b'Think step by step, then finish with a line "Answer: X" where X is the letter of the '
        b"correct option."
    )


def test_braces_percent_signs_and_backslashes_are_asked_as_written() -> None:
    item = Item("b", "{question} %s {0} \\n?", ("{}", "{choices}", "%d", "{{x}}"), 0)
    assert golden(item, (3, 2, 1, 0)) == (
        b"Question: {question} %s {0} \\n?\nA. {{x}}\nB. %d\nC. {choices}\nD. {}\nAnswer:"
    )


def test_newlines_inside_texts_are_asked_as_written() -> None:
    item = Item("n", "Two\nlines?", ("one\ntwo", "three\r\nfour", "\u2028"), 0)
    assert golden(item, (0, 1, 2)) == (
        "Question: Two\nlines?\nA. one\ntwo\nB. three\r\nfour\nC. \u2028\nAnswer:".encode()
    )


def test_ten_options_get_the_letters_a_to_j() -> None:
    item = Item("ten", "Which?", tuple(f"o{n}" for n in range(10)), 0)
    lines = build_prompt(item, range(10)).split("\n")
    assert [line[:3] for line in lines[1:-1]] == [f"{letter}. " for letter in "ABCDEFGHIJ"]


@pytest.mark.parametrize("style", [PLAIN, DIRECT_ANSWER, CHAIN_OF_THOUGHT])
@given(question=TEXTS, first=TEXTS, second=TEXTS, passage=st.none() | TEXTS)
def test_texts_enter_exactly_as_they_are_and_no_prompt_ends_in_a_blank(
    style: PromptStyle, question: str, first: str, second: str, passage: str | None
) -> None:
    item = Item("any", question, (first, second), 1, passage=passage)
    prompt = build_prompt(item, (1, 0), (), style)
    before = f"{passage}\n" if passage else ""
    assert prompt == f"{before}Question: {question}\nA. {second}\nB. {first}\n{style.tail}"
    assert prompt == prompt.rstrip()


def test_solved_example_and_scored_continuation_share_the_reply() -> None:
    for style in (PLAIN, PromptStyle(reply_prefix=" (")):
        for gold, letter in enumerate(letters(3)):
            shot = Item("s", SKY.question, SKY.choices, gold)
            body = question_body(shot, (0, 1, 2), style)
            assert solved_example(shot, style) == body + style.reply(letter) + "\n\n"


def test_every_named_part_of_the_style_is_used() -> None:
    style = PromptStyle("\n--\n", "Q) ", "(", ") ", "Reply:", " [", "\n##\n")
    item = Item("p", "Who?", ("Ann", "Bo"), 1, passage="Text")
    body = "Text\n--\nQ) Who?\n(A) Ann\n(B) Bo\nReply:"
    assert solved_example(item, style) == f"{body} [B\n##\n"


def test_an_ordering_of_another_length_is_a_defect_and_drops_no_option() -> None:
    with pytest.raises(ValueError, match="zip"):
        build_prompt(SKY, (0, 1))
