"""Statistics: what tables and figures show, as frames.

Needs: the store, read-only; `compare_cells` the factors alone.
Makes: results/statistics/*.parquet.
Why apart: minutes of resampling, repeated when the store or a statistic changes, never for
a figure.
"""


rule compute_factors:
    input:
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
        tie_seed=experiment.config.seeds.ties,
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


rule compare_cells:
    input:
        factors="results/statistics/factors.parquet",
    output:
        correlations="results/statistics/correlations_with_accuracy.parquet",
        pairs="results/statistics/opposite_pairs.parquet",
        summaries="results/statistics/cell_summaries.parquet",
    log:
        "results/logs/compare_cells.log",
    benchmark:
        "results/timings/compare_cells.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
        gpu=0,
    params:
        seed=experiment.config.seeds.statistics,
        draws=experiment.config.statistics.bootstrap_draws,
        code=experiment.code("statistics/compare_cells.py"),
    script:
        "../../scripts/statistics/compare_cells.py"


rule statistics:
    input:
        rules.compute_factors.output,
        rules.compute_pools.output,
        rules.compare_cells.output,
