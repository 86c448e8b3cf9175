"""Items: what every cell of a benchmark asks.

Needs: a benchmark's source; the hub's only in `fetch_benchmark`, the one rule here that
uses the network.
Makes: results/items/{benchmark}.parquet with the items asked, .excluded.parquet with the
others and why, .json with a summary; .shots.parquet with few-shot examples where they are shown.
Why apart: an item's text, gold or id that changes re-scores the benchmark's cells, and
nothing else does.
"""


localrules:
    fetch_benchmark,


rule fetch_benchmark:
    output:
        fetched="results/items/{benchmark}.fetched.json",
    log:
        "results/logs/fetch_benchmark/{benchmark}.log",
    conda:
        "../../envs/scoring.yaml"
    params:
        source=experiment.hub_benchmark,
        code=experiment.code("items/fetch_benchmark.py"),
    script:
        "../../scripts/items/fetch_benchmark.py"


rule prepare_items:
    input:
        inputs=experiment.benchmark_inputs,
    output:
        asked="results/items/{benchmark}.parquet",
        excluded="results/items/{benchmark}.excluded.parquet",
        summary="results/items/{benchmark}.json",
    log:
        "results/logs/prepare_items/{benchmark}.log",
    # Mistakes in sources should come to light before hours of scoring.
    priority: 100
    conda:
        "../../envs/scoring.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
        gpu=0,
    params:
        source=experiment.benchmark_source,
        settings=experiment.item_settings,
        code=experiment.code("items/prepare_items.py"),
    script:
        "../../scripts/items/prepare_items.py"


rule prepare_shots:
    input:
        inputs=experiment.pool_inputs,
        asked="results/items/{benchmark}.parquet",
        summary="results/items/{benchmark}.json",
    output:
        shots="results/items/{benchmark}.shots.parquet",
    log:
        "results/logs/prepare_shots/{benchmark}.log",
    priority: 100
    conda:
        "../../envs/scoring.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
        gpu=0,
    params:
        source=experiment.pool_source,
        settings=experiment.item_settings,
        n_shots=experiment.n_shots,
        code=experiment.code("items/prepare_shots.py"),
    script:
        "../../scripts/items/prepare_shots.py"
