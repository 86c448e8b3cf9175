"""A real checkpoint on real items, against one plain prompt at a time."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM, AutoTokenizer

from optionbias.checkpoints.manifest import CheckpointManifest
from optionbias.items.item import Item
from optionbias.orderings import cyclic_design
from optionbias.prompts import PLAIN
from optionbias.scoring.cell import score_cell
from optionbias.scoring.engine import scoring_engine
from optionbias.scoring.loading import load_checkpoint

pytestmark = [pytest.mark.checkpoint, pytest.mark.cases]

N_ITEMS = 40
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Compared:
    """Letter log-probabilities [queries, 4] of the pipeline and of the plain computation."""

    batched: NDArray[np.float64]
    alone: NDArray[np.float64]
    frame: pl.DataFrame


def arc_items(cases: Path) -> list[Item]:
    # Split at newlines alone: other separators may stand inside a text.
    lines = (cases / "data/arc_easy.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    items = [Item(row["id"], row["question"], tuple(row["choices"]), row["answer"]) for row in rows]
    return [item for item in items if item.n_options == 4][:N_ITEMS]


def plain_letter_logprobs(folder: str, prompts: list[str]) -> NDArray[np.float64]:
    """Ask each prompt alone, the tokenizer and the model's own logits as they come."""
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True
    ).eval()
    found = []
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        length = ids.shape[1]
        whole = [tokenizer(f"{prompt} {letter}").input_ids for letter in "ABCD"]
        assert all(reply[:-1] == ids[0].tolist() for reply in whole)
        with torch.no_grad():
            logprobs = torch.log_softmax(model(ids).logits[0, length - 1], dim=-1)
        found.append([float(logprobs[reply[-1]]) for reply in whole])
    return np.array(found)


def plain_prompt(item: Item, shown: list[int]) -> str:
    options = "".join(
        f"{letter}. {item.choices[content]}\n"
        for letter, content in zip("ABCD", shown, strict=True)
    )
    return f"Question: {item.question}\n{options}Answer:"


@pytest.fixture(scope="module")
def compared(prepared: CheckpointManifest, cases: Path) -> Compared:
    items = arc_items(cases)
    loaded = load_checkpoint(Path(prepared.folder), "smollm2", "float32", "cpu", False)
    engine = scoring_engine(loaded.model, None)
    scores = score_cell(items, cyclic_design(4), [], PLAIN, loaded.encoder, engine, loaded.context)
    by_id = {item.item_id: item for item in items}
    prompts = [
        plain_prompt(by_id[row["item_id"]], row["shown"])
        for row in scores.frame.iter_rows(named=True)
    ]
    batched = np.array(scores.frame["letter_logprobs"].to_list(), dtype=np.float64)
    return Compared(batched, plain_letter_logprobs(prepared.folder, prompts), scores.frame)


def test_every_item_and_ordering_was_scored(compared: Compared) -> None:
    assert compared.batched.shape == (N_ITEMS * 4, 4)
    assert compared.frame["unusable_reason"].null_count() == N_ITEMS * 4


def test_letter_log_probabilities_equal_one_prompt_at_a_time(compared: Compared) -> None:
    largest = np.abs(compared.batched - compared.alone).max()
    print(f"largest difference over {compared.batched.size} log-probabilities: {largest:.2e}")
    assert np.median(np.ptp(compared.alone, axis=1)) > 0.1
    assert largest <= TOLERANCE


def test_answers_agree_wherever_the_gap_exceeds_the_tolerance(compared: Compared) -> None:
    ranked = np.sort(compared.alone, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > TOLERANCE
    assert clear.mean() > 0.9
    agree = compared.batched.argmax(axis=1) == compared.alone.argmax(axis=1)
    assert agree[clear].all()


def test_letter_mass_is_that_of_a_model_that_answers_with_letters(compared: Compared) -> None:
    mass = np.exp(compared.alone).sum(axis=1)
    assert np.abs(compared.frame["letter_mass"].to_numpy() - mass).max() < 1e-4
    assert np.median(mass) > 0.05
