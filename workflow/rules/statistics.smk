"""Statistics of one cell: its answers and its factors; and what entered and what did not.

Needs: the store, read-only.
Makes: results/statistics/{answers,cells,factors,order_dependent,pools,…}.parquet.
Why apart: the store is read once; minutes of resampling, repeated when the answers or a
statistic change, never for a figure.
"""


rule collect_answers:
    input:
        store="results/store/probabilities.duckdb",
    output:
        answers="results/statistics/answers.parquet",
        cells="results/statistics/cells.parquet",
    log:
        "results/logs/collect_answers.log",
    benchmark:
        "results/timings/collect_answers.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
        gpu=0,
    params:
        tie_seed=experiment.config.seeds.ties,
        code=experiment.code("statistics/collect_answers.py"),
    script:
        "../../scripts/statistics/collect_answers.py"


rule compute_factors:
    input:
        answers="results/statistics/answers.parquet",
        cells="results/statistics/cells.parquet",
        store="results/store/probabilities.duckdb",
    output:
        factors="results/statistics/factors.parquet",
        apart="results/statistics/order_dependent.parquet",
    log:
        "results/logs/compute_factors.log",
    benchmark:
        "results/timings/compute_factors.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=8000,
        runtime=120,
        gpu=0,
    params:
        settings=experiment.factor_settings(),
        reported_apart=experiment.reported_apart,
        code=experiment.code("statistics/compute_factors.py"),
    script:
        "../../scripts/statistics/compute_factors.py"


rule compute_pools:
    input:
        store="results/store/probabilities.duckdb",
    output:
        checkpoints="results/statistics/checkpoints.parquet",
        pools="results/statistics/pools.parquet",
        exclusions="results/statistics/exclusions.parquet",
        omitted="results/statistics/omitted.parquet",
    log:
        "results/logs/compute_pools.log",
    benchmark:
        "results/timings/compute_pools.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
        gpu=0,
    params:
        policies=experiment.order_dependent_policies(),
        few_shot_readouts=experiment.few_shot_readouts,
        omitted_cells=experiment.omitted(),
        code=experiment.code("statistics/compute_pools.py"),
    script:
        "../../scripts/statistics/compute_pools.py"
