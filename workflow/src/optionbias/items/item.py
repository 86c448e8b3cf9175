"""The item: one multiple-choice question as every later stage sees it."""

import hashlib
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One question with its K options in canonical order.

    Attributes:
        item_id: unique within its benchmark.
        question: the question's text, asked exactly as written here.
        choices: K option texts; content j is ``choices[j]`` wherever it is shown.
        gold: index of the correct content.
        passage: text shown before the question, or None.
        subject: the source's own grouping of items, or None.
    """

    item_id: str
    question: str
    choices: tuple[str, ...]
    gold: int
    passage: str | None = None
    subject: str | None = None

    @property
    def n_options(self) -> int:
        """K, the number of options."""
        return len(self.choices)

    def item_hash(self) -> str:
        """Return 32 hexadecimal digits that change with any text or the gold.

        A blake2b digest of the compact UTF-8 JSON of passage, question, choices
        and gold; ``subject`` and ``item_id`` do not enter, since they are not asked.
        """
        content = [self.passage, self.question, list(self.choices), self.gold]
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        # surrogatepass: a lone surrogate must yield a hash and an exclusion, never a crash.
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
