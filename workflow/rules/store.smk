"""Store: every probability in one DuckDB file.

Needs: all cells, items and manifests; no weights.
Makes: results/store/probabilities.duckdb, rebuilt as a whole and put in place at once.
Why apart: one writer; every later stage only reads it.
"""


rule build_store:
    input:
        cells=experiment.cell_paths,
        asked=expand("results/items/{benchmark}.parquet", benchmark=experiment.benchmarks),
        excluded=expand(
            "results/items/{benchmark}.excluded.parquet",
            benchmark=experiment.benchmarks,
        ),
        summaries=expand("results/items/{benchmark}.json", benchmark=experiment.benchmarks),
        shots=experiment.shots_paths,
        manifests=expand("results/checkpoints/{checkpoint}.json", checkpoint=experiment.checkpoints),
    output:
        store="results/store/probabilities.duckdb",
    log:
        "results/logs/build_store.log",
    benchmark:
        "results/timings/build_store.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=60,
        gpu=0,
    params:
        checkpoints=experiment.checkpoint_facts(),
        settings=experiment.store_settings(),
        code=experiment.code("store/build_store.py"),
    script:
        "../../scripts/store/build_store.py"


rule store:
    input:
        rules.build_store.output,
