"""Checkpoints: weights that cells load offline.

Needs: a checkpoint's source; the hub's only in `fetch_checkpoint`, the one rule here that
uses the network.
Makes: results/checkpoints/{checkpoint}.json, a manifest with revision, file digests and the
folder: the hub's cache, the user's own folder, or a conversion in `checkpoint_dir`.
Why apart: many cells share one checkpoint; it is fetched, checked and converted once.
"""


localrules:
    fetch_checkpoint,


rule fetch_checkpoint:
    output:
        fetched="results/checkpoints/{checkpoint}.fetched.json",
    log:
        "results/logs/fetch_checkpoint/{checkpoint}.log",
    conda:
        "../../envs/scoring.yaml"
    params:
        source=experiment.hub_checkpoint,
        code=experiment.code("checkpoints/fetch_checkpoint.py"),
    script:
        "../../scripts/checkpoints/fetch_checkpoint.py"


rule prepare_checkpoint:
    input:
        inputs=experiment.checkpoint_inputs,
    output:
        manifest="results/checkpoints/{checkpoint}.json",
    log:
        "results/logs/prepare_checkpoint/{checkpoint}.log",
    benchmark:
        "results/timings/prepare_checkpoint/{checkpoint}.tsv"
    # Missing weights should come to light before hours of scoring.
    priority: 100
    conda:
        "../../envs/scoring.yaml"
    threads: 1
    resources:
        mem_mb=experiment.cell_memory_mb,
        runtime=120,
        gpu=0,
    params:
        source=experiment.checkpoint_source,
        checkpoint_dir=experiment.checkpoint_dir,
        code=experiment.code("checkpoints/prepare_checkpoint.py"),
    script:
        "../../scripts/checkpoints/prepare_checkpoint.py"
