"""The engines that are compared, each as something that turns prompts into log-probabilities.

Every measurement begins with texts and ends with numbers, so tokenising is part of all three.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scoring_work import RESULTS, Questions

from optionbias.errors import UserError
from optionbias.orderings import letters
from optionbias.scoring.forward_pass import ForwardPass
from optionbias.scoring.loading import load_checkpoint
from optionbias.scoring.memory import TokenBudget, chosen_tokens
from optionbias.scoring.plain_batches import PlainBatchEngine
from optionbias.scoring.queries import Engine, Query
from optionbias.scoring.shared_prefixes import SharedPrefixEngine

HARNESS_PYTHON = Path(__file__).parent / ".venv-lm-eval/bin/python"
WORKER = Path(__file__).parent / "lm_eval_worker.py"
WORKER_LOG = RESULTS / "lm_eval_worker.log"

_CLASSES: dict[str, Callable[[ForwardPass, TokenBudget], Engine]] = {
    "plain": PlainBatchEngine,
    "shared": SharedPrefixEngine,
}


@dataclass(frozen=True)
class Measurement:
    """What one engine made of some prompts.

    Attributes:
        seconds: wall time from texts to numbers.
        logprobs: log-probability of every letter after every prompt [prompts, K].
    """

    seconds: float
    logprobs: NDArray[np.float64]


class OwnEngines:
    """The project's engines on one loaded checkpoint."""

    def __init__(self, folder: Path, checkpoint: str) -> None:
        """Load a prepared checkpoint in float32 on the CPU."""
        loaded = load_checkpoint(folder, checkpoint, "float32", "cpu", False)
        self._encoder = loaded.encoder
        self.forward = ForwardPass(loaded.model)
        self.model = loaded.model

    def queries(self, questions: Questions) -> list[Query]:
        """Return the prompts as token ids, with the letters' tokens."""
        return self._encoder.queries(questions.prompts, questions.style, questions.n_options)

    def fresh(self, name: str) -> Engine:
        """Return an engine that has scored nothing yet, with the budget a run would choose."""
        return _CLASSES[name](self.forward, TokenBudget(self.budget))

    @property
    def budget(self) -> int:
        """Most tokens computed at once."""
        return chosen_tokens(self.model, self.forward.device)

    def measure(self, name: str, questions: Questions) -> Measurement:
        """Score prompts with a fresh engine."""
        engine = self.fresh(name)
        started = time.perf_counter()
        scores = dict(engine.score(self.queries(questions)))
        seconds = time.perf_counter() - started
        return Measurement(seconds, np.array([scores[number] for number in range(len(scores))]))


class Harness:
    """lm-evaluation-harness on one checkpoint, in a process of its own environment."""

    def __init__(self, folder: Path, threads: int) -> None:
        """Start the process and wait until the checkpoint is loaded.

        Raises:
            UserError: the environment is missing, or the process died.
        """
        if not HARNESS_PYTHON.is_file():
            raise UserError(
                f"{HARNESS_PYTHON}: lm-evaluation-harness has no environment yet; "
                "'make bench-scoring' installs it"
            )
        WORKER_LOG.parent.mkdir(parents=True, exist_ok=True)
        with WORKER_LOG.open("w") as log:
            self._process = subprocess.Popen(
                [HARNESS_PYTHON, WORKER, folder, str(threads)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1,
                env={**os.environ, "HF_HUB_OFFLINE": "1"},
            )  # fmt: skip
        self.packages: dict[str, str] = self._answer()["packages"]

    def __enter__(self) -> "Harness":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()

    def measure(self, questions: Questions) -> Measurement:
        """Score prompts; the time is taken inside the process."""
        replies = [questions.style.reply(letter) for letter in letters(questions.n_options)]
        assert self._process.stdin
        print(json.dumps({"prompts": questions.prompts, "replies": replies}),
              file=self._process.stdin)  # fmt: skip
        found = self._answer()
        return Measurement(found["seconds"], np.array(found["logprobs"]))

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise UserError(f"lm-evaluation-harness stopped; {WORKER_LOG} says why")
        found: dict[str, Any] = json.loads(line)
        return found
