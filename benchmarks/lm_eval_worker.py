"""Answer requests with lm-evaluation-harness, in an environment of its own.

    python lm_eval_worker.py FOLDER THREADS

loads the checkpoint in FOLDER once and says so in one line of JSON. Then it answers every line
of JSON on standard input with one on standard output:

    {"prompts": [...], "replies": [...]}   ->   {"seconds": ..., "logprobs": [[...], ...]}

The time is that of `HFLM.loglikelihood`, which tokenises by itself. This file knows nothing of
the project, whose packages this environment does not have.
"""

import json
import os
import sys
import time
from importlib.metadata import version
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

BATCH_SIZE = 8
RECORDED = ("lm_eval", "torch", "transformers", "tokenizers", "numpy")


def answer(model: Any, prompts: list[str], replies: list[str]) -> dict[str, Any]:
    """Return the log-probability of every reply after every prompt, and the seconds it took."""
    started = time.perf_counter()
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(prompt, reply), idx=index)
        for prompt in prompts
        for index, reply in enumerate(replies)
    ]
    values = [logprob for logprob, _ in model.loglikelihood(requests, disable_tqdm=True)]
    seconds = time.perf_counter() - started
    rows = [values[row : row + len(replies)] for row in range(0, len(values), len(replies))]
    return {"seconds": seconds, "logprobs": rows}


def main() -> None:
    folder, threads = sys.argv[1], int(sys.argv[2])
    # Whatever the harness prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    model = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=BATCH_SIZE)
    torch.set_num_threads(threads)
    print(json.dumps({"packages": {name: version(name) for name in RECORDED}}), file=answers)
    for line in sys.stdin:
        print(json.dumps(answer(model, **json.loads(line))), file=answers)


if __name__ == "__main__":
    main()
