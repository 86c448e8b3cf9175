"""Turn prompts into token ids and derive each letter's token in context."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optionbias.errors import UserError
from optionbias.orderings import letters
from optionbias.prompts import PromptStyle
from optionbias.scoring.queries import Query, TokenIds, common_length

_SLICE = 256
"""Texts tokenised at once: a tokenizer keeps far more of a text than its ids while it works."""


class PromptEncoder:
    """Tokenises prompts of one checkpoint the same way everywhere.

    Text is text: a special token's name inside an item is split like any other
    word. The begin-of-sequence token stands exactly once where the tokenizer
    adds one by itself, and nowhere else.
    """

    def __init__(self, tokenizer: Any, checkpoint: str, vocabulary: int) -> None:
        """Wrap a `transformers` tokenizer.

        Args:
            tokenizer: the tokenizer.
            checkpoint: the checkpoint's id in the config, for messages.
            vocabulary: how many tokens the model knows.
        """
        self._tokenizer = tokenizer
        self._checkpoint = checkpoint
        self._vocabulary = vocabulary
        self._start = _start_tokens(tokenizer)
        self._known: dict[int, int] = {}  # one object per id, for all prompts of a cell

    def encode(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return the token ids of whole texts, begin-of-sequence token included.

        Raises:
            UserError: a text has a token that the model does not know.
        """
        encoded = self._tokenizer(
            list(texts), add_special_tokens=False, split_special_tokens=True
        ).input_ids
        rows = [self._start + tuple(self._known.setdefault(n, n) for n in ids) for ids in encoded]
        largest = max((max(row, default=0) for row in rows), default=0)
        if largest >= self._vocabulary:
            raise UserError(
                f"checkpoint '{self._checkpoint}': its tokenizer gives the token {largest}, but "
                f"the model knows only {self._vocabulary}; tokenizer and weights do not belong "
                "together"
            )
        return rows

    def queries(self, prompts: Sequence[str], style: PromptStyle, n_options: int) -> list[Query]:
        """Return the queries that ask for every option letter after each prompt.

        The letters' tokens are derived once, from the first prompt; every other
        prompt is checked to be followed by the same tokens.

        Raises:
            UserError: a letter is not one token in context or an unknown one, two letters
                share one, a prompt changes the tokens, or the model lacks one; checkpoint and
                letter named.
        """
        ending = self._derive_ending(prompts[0], style, n_options)
        first_reply = style.reply(letters(n_options)[0])
        replied = (
            row
            for start in range(0, len(prompts), _SLICE)
            for row in self.encode([text + first_reply for text in prompts[start : start + _SLICE]])
        )
        tail = (*ending.shared, ending.letter_tokens[0])
        continuations = tuple((*ending.shared, token) for token in ending.letter_tokens)
        queries = []
        for prompt, ids in zip(prompts, replied, strict=True):
            if ids[-len(tail) :] != tail:
                raise UserError(
                    f"checkpoint '{self._checkpoint}': the reply '{first_reply}' has other tokens "
                    f"after the prompt that begins with {prompt[:60]!r}"
                )
            queries.append(Query(ids[: -len(tail)], continuations))
        return queries

    def _derive_ending(self, prompt: str, style: PromptStyle, n_options: int) -> "LetterEnding":
        names = letters(n_options)
        alone = self.encode([prompt])[0]
        replied = self.encode([prompt + style.reply(letter) for letter in names])
        common = common_length(replied)
        for letter, ids in zip(names, replied, strict=True):
            if len(ids) - common != 1:
                raise UserError(
                    f"checkpoint '{self._checkpoint}': the letter {letter} is "
                    f"{len(ids) - common} tokens after the prompt, not one; a first-token "
                    "readout cannot be used with this tokenizer, so leave its cells out with 'omit'"
                )
        owners: dict[int, str] = {}
        for letter, ids in zip(names, replied, strict=True):
            if owners.setdefault(ids[-1], letter) != letter:
                raise UserError(
                    f"checkpoint '{self._checkpoint}': the letters {owners[ids[-1]]} and {letter} "
                    "are the same token after the prompt; a first-token readout cannot be used "
                    "with this tokenizer"
                )
        unknown = owners.get(self._tokenizer.unk_token_id)
        if unknown is not None:
            raise UserError(
                f"checkpoint '{self._checkpoint}': its tokenizer does not know the letter "
                f"{unknown}; a first-token readout cannot be used with this tokenizer"
            )
        # A token that merges the prompt's end with the reply's start belongs to the reply.
        asked = common_length([alone, replied[0][:common]])
        return LetterEnding(replied[0][asked:common], tuple(ids[-1] for ids in replied))


@dataclass(frozen=True)
class LetterEnding:
    """How replies are tokenised after a prompt.

    Attributes:
        shared: tokens between prompt and letter that every reply begins with;
            empty for nearly every tokenizer.
        letter_tokens: the token of each letter, all distinct.
    """

    shared: TokenIds
    letter_tokens: TokenIds


def _start_tokens(tokenizer: Any) -> TokenIds:
    """Return what the tokenizer by itself puts before a text: one token, several or none."""
    added = tokenizer("x").input_ids
    plain = tokenizer("x", add_special_tokens=False).input_ids
    matches = (n for n in range(len(added)) if added[n : n + len(plain)] == plain)
    return tuple(added[: next(matches, 0)])
