"""Letters as tokens in context: derived per tokenizer, checked, and scored as they stand."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import (
    byte_level_tokenizer,
    character_tokenizer,
    metaspace_tokenizer,
    own_logprobs,
    tiny_model,
    word_tokenizer,
)
from tokenizers import processors

from optionbias.errors import UserError
from optionbias.items.item import Item
from optionbias.orderings import letters
from optionbias.prompts import CHAIN_OF_THOUGHT, DIRECT_ANSWER, PLAIN, PromptStyle, build_prompt
from optionbias.scoring.encoding import PromptEncoder
from optionbias.scoring.engine import scoring_engine

ITEM = Item("sky", "which colour is the sky?", ("red", "blue", "green", "black"), 1)
SHOTS = [Item("grass", "which colour is grass?", ("red", "blue", "green", "black"), 2)]
PROMPT = build_prompt(ITEM, (0, 1, 2, 3))
BYTE_LEVEL = byte_level_tokenizer()
BLANK_MERGES = [(" ", letter) for letter in "ABCD"]


def encoder_of(tokenizer: Any) -> PromptEncoder:
    return PromptEncoder(tokenizer, "tiny", len(tokenizer))


def refusal(tokenizer: Any, style: PromptStyle = PLAIN, n_options: int = 4) -> str:
    with pytest.raises(UserError) as raised:
        encoder_of(tokenizer).queries([PROMPT], style, n_options)
    return str(raised.value)


@pytest.mark.parametrize("make", [byte_level_tokenizer, metaspace_tokenizer])
def test_a_letter_with_its_blank_is_one_token_after_the_prompt(make: Any) -> None:
    tokenizer = make()
    (query,) = encoder_of(tokenizer).queries([PROMPT], PLAIN, 4)
    assert [len(continuation) for continuation in query.continuations] == [1] * 4
    blank = tokenizer.convert_ids_to_tokens([token for (token,) in query.continuations])
    assert [text[-1] for text in blank] == list("ABCD")
    assert all(len(text) == 2 for text in blank), "the letter's token must hold the blank"


@pytest.mark.parametrize("make", [byte_level_tokenizer, metaspace_tokenizer])
def test_prompt_and_continuation_join_to_the_tokens_of_the_whole_text(make: Any) -> None:
    encoder = encoder_of(make())
    (query,) = encoder.queries([PROMPT], PLAIN, 4)
    for letter, continuation in zip("ABCD", query.continuations, strict=True):
        assert query.prompt + continuation == encoder.encode([f"{PROMPT} {letter}"])[0]


def test_letter_without_its_blank_is_another_token_than_the_one_scored() -> None:
    tokenizer = byte_level_tokenizer()
    (query,) = encoder_of(tokenizer).queries([PROMPT], PLAIN, 4)
    bare = [tokenizer.convert_tokens_to_ids(letter) for letter in "ABCD"]
    assert not {token for (token,) in query.continuations} & set(bare)


@pytest.mark.parametrize("make", [byte_level_tokenizer, metaspace_tokenizer])
def test_solved_examples_and_query_use_the_same_letter_token(make: Any) -> None:
    tokenizer = make()
    encoder = encoder_of(tokenizer)
    for gold, letter in enumerate("ABCD"):
        shots = [Item("s", SHOTS[0].question, SHOTS[0].choices, gold)]
        prompt = build_prompt(ITEM, (0, 1, 2, 3), shots)
        (query,) = encoder.queries([prompt], PLAIN, 4)
        end_of_shot = prompt.index(f"Answer: {letter}") + len(f"Answer: {letter}")
        shot_ids = encoder.encode([prompt[:end_of_shot]])[0]
        assert query.prompt[: len(shot_ids)] == shot_ids
        assert shot_ids[-1:] == query.continuations[gold]


# --- tokenizers that cannot be used ---


@pytest.mark.parametrize(
    "tokenizer",
    [character_tokenizer(BLANK_MERGES[:2]), byte_level_tokenizer("AB")],
    ids=["explicit merges", "trained"],
)
def test_letter_of_two_tokens_is_refused_by_name(tokenizer: Any) -> None:
    message = refusal(tokenizer)
    assert "'tiny'" in message
    assert "letter C is 2 tokens" in message


def test_two_letters_that_share_the_unknown_token_are_refused_by_name() -> None:
    message = refusal(word_tokenizer(["Answer:", "A", "B"]))
    assert "'tiny'" in message
    assert "letters C and D are the same token" in message


def test_single_letter_that_is_the_unknown_token_is_refused_by_name() -> None:
    tokenizer = word_tokenizer(["Answer:", "A", "B"])
    assert "does not know the letter C" in refusal(tokenizer, n_options=3)
    encoder_of(tokenizer).queries([PROMPT], PLAIN, 2)


def test_tokenizer_with_more_tokens_than_the_model_is_refused_where_a_prompt_uses_them() -> None:
    largest = max(BYTE_LEVEL(PROMPT + " A").input_ids)
    PromptEncoder(BYTE_LEVEL, "tiny", largest + 1).encode([PROMPT + " A"])
    with pytest.raises(UserError, match=rf"'tiny'.*token {largest}.*only {largest};"):
        PromptEncoder(BYTE_LEVEL, "tiny", largest).encode([PROMPT + " A"])


def test_prompts_tokenised_in_slices_are_those_tokenised_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prompts = [f"Question {number}\n{PROMPT}" for number in range(7)]
    at_once = encoder_of(BYTE_LEVEL).queries(prompts, PLAIN, 4)
    monkeypatch.setattr("optionbias.scoring.encoding._SLICE", 3)
    assert encoder_of(BYTE_LEVEL).queries(prompts, PLAIN, 4) == at_once


def test_letters_that_are_all_unknown_are_refused() -> None:
    assert "the letter A is 0 tokens" in refusal(word_tokenizer(["Answer:"]))


def test_prompt_after_which_the_reply_has_other_tokens_is_refused() -> None:
    # ". A" is one token, so the letter's token hangs on how the prompt ends.
    tokenizer = character_tokenizer([*BLANK_MERGES, (".", " A")])
    with pytest.raises(UserError, match=r"'tiny'.*' A'.*other tokens.*'Ends in a dot\.'"):
        encoder_of(tokenizer).queries([PROMPT, "Ends in a dot."], PLAIN, 4)


# --- tokens between prompt and letter ---


def assert_scores_are_sums_over_the_text(tokenizer: Any, shared: int) -> None:
    """Compare with steps over the tokens of prompt + reply after those all replies share."""
    encoder = encoder_of(tokenizer)
    (query,) = encoder.queries([PROMPT], PLAIN, 4)
    assert [len(continuation) for continuation in query.continuations] == [1 + shared] * 4
    model = tiny_model("llama", vocab_size=len(tokenizer))
    model.config.max_position_embeddings = 512
    expected = []
    for letter in "ABCD":
        whole = encoder.encode([f"{PROMPT} {letter}"])[0]
        logprobs = own_logprobs(model, whole)
        steps = range(len(whole) - 1 - shared, len(whole))
        expected.append(sum(float(logprobs[step - 1, whole[step]]) for step in steps))
    ((_, got),) = scoring_engine(copy.deepcopy(model), 64).score([query])
    assert np.abs(got - np.array(expected)).max() < 1e-4
    assert np.ptp(expected) > 1


def test_a_blank_of_its_own_adds_its_log_probability_to_every_letter() -> None:
    assert_scores_are_sums_over_the_text(character_tokenizer(), shared=1)


def test_a_token_that_joins_the_colon_and_the_blank_belongs_to_the_reply() -> None:
    assert_scores_are_sums_over_the_text(character_tokenizer([(":", " ")]), shared=1)


def test_a_blank_in_the_letters_token_adds_nothing() -> None:
    assert_scores_are_sums_over_the_text(character_tokenizer(BLANK_MERGES), shared=0)


# --- begin of sequence ---


def test_begin_token_stands_exactly_once_where_the_tokenizer_adds_one() -> None:
    tokenizer = byte_level_tokenizer(adds_start=True)
    (query,) = encoder_of(tokenizer).queries([build_prompt(ITEM, (0, 1, 2, 3), SHOTS)], PLAIN, 4)
    assert query.prompt[0] == tokenizer.bos_token_id
    assert query.prompt.count(tokenizer.bos_token_id) == 1


def test_begin_token_that_is_defined_but_not_added_stands_nowhere() -> None:
    tokenizer = byte_level_tokenizer(adds_start=False)
    assert tokenizer.bos_token_id is not None
    (query,) = encoder_of(tokenizer).queries([PROMPT], PLAIN, 4)
    assert tokenizer.bos_token_id not in query.prompt


def test_start_token_that_has_no_name_as_begin_token_is_kept() -> None:
    tokenizer = character_tokenizer(BLANK_MERGES, start="<s>")
    assert tokenizer.bos_token_id is None
    (query,) = encoder_of(tokenizer).queries([PROMPT], PLAIN, 4)
    assert query.prompt[:1] == (tokenizer.convert_tokens_to_ids("<s>"),)


def test_end_token_that_the_tokenizer_appends_is_left_out() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    assert tokenizer("x").input_ids[-1] == tokenizer.eos_token_id
    (query,) = encoder_of(tokenizer).queries([PROMPT], PLAIN, 4)
    assert query.prompt[0] == tokenizer.bos_token_id
    assert tokenizer.eos_token_id not in query.prompt


@pytest.mark.parametrize("make", [byte_level_tokenizer, metaspace_tokenizer])
@pytest.mark.parametrize("name", ["</s>", "<s>"])
def test_name_of_a_special_token_inside_an_item_stays_text(make: Any, name: str) -> None:
    tokenizer = make()
    special = tokenizer.convert_tokens_to_ids(name)
    item = Item("i", f"what does {name} mean?", (f"{name}", "end", "start", "none"), 0)
    prompt = build_prompt(item, (0, 1, 2, 3))
    assert special in tokenizer(prompt, add_special_tokens=False).input_ids
    encoder = encoder_of(tokenizer)
    (query,) = encoder.queries([prompt], PLAIN, 4)
    starts = encoder.encode([""])[0]
    assert special not in query.prompt[len(starts) :]
    assert tokenizer.decode(list(query.prompt[len(starts) :])).count(name) == 2


# --- every style, any text ---


@pytest.mark.parametrize("style", [PLAIN, DIRECT_ANSWER, CHAIN_OF_THOUGHT])
def test_letters_are_one_token_after_every_styles_tail(style: PromptStyle) -> None:
    prompt = build_prompt(ITEM, (0, 1, 2, 3), (), style)
    (query,) = encoder_of(byte_level_tokenizer()).queries([prompt], style, 4)
    assert [len(continuation) for continuation in query.continuations] == [1] * 4


def test_ten_options_get_ten_distinct_tokens() -> None:
    item = Item("many", "which?", tuple(f"option {n}" for n in range(10)), 0)
    prompt = build_prompt(item, range(10))
    (query,) = encoder_of(byte_level_tokenizer(letters(10))).queries([prompt], PLAIN, 10)
    assert len(set(query.continuations)) == 10


@settings(max_examples=50, deadline=None)
@given(question=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_question_is_encoded_as_it_is_written(question: str) -> None:
    item = Item("any", question, ("red", "blue", "green", "black"), 0)
    prompt = build_prompt(item, (0, 1, 2, 3))
    (query,) = encoder_of(BYTE_LEVEL).queries([prompt], PLAIN, 4)
    assert BYTE_LEVEL.decode(list(query.prompt), clean_up_tokenization_spaces=False) == prompt
