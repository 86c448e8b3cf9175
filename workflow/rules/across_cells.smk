"""Statistics across cells that the factors alone answer: what moves with accuracy, and why.

Needs: the factors of every cell.
Makes: results/statistics/{correlations,variance_shares,cap_null,…}.parquet.
Why apart: a change here computes no cell again.
"""


rule compare_cells:
    input:
        factors="results/statistics/factors.parquet",
    output:
        pairs="results/statistics/opposite_pairs.parquet",
        summaries="results/statistics/cell_summaries.parquet",
        readings="results/statistics/readings.parquet",
        uniformity="results/statistics/uniformity.parquet",
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


rule correlate_cells:
    input:
        factors="results/statistics/factors.parquet",
    output:
        correlations="results/statistics/correlations.parquet",
        gaps="results/statistics/correlation_gaps.parquet",
        profiles="results/statistics/profiles.parquet",
    log:
        "results/logs/correlate_cells.log",
    benchmark:
        "results/timings/correlate_cells.tsv"
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
        code=experiment.code("statistics/correlate_cells.py"),
    script:
        "../../scripts/statistics/correlate_cells.py"


rule compute_variance_shares:
    input:
        factors="results/statistics/factors.parquet",
    output:
        shares="results/statistics/variance_shares.parquet",
    log:
        "results/logs/compute_variance_shares.log",
    benchmark:
        "results/timings/compute_variance_shares.tsv"
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
        code=experiment.code("statistics/compute_variance_shares.py"),
    script:
        "../../scripts/statistics/compute_variance_shares.py"


rule compute_cap_null:
    input:
        factors="results/statistics/factors.parquet",
    output:
        cap_null="results/statistics/cap_null.parquet",
    log:
        "results/logs/compute_cap_null.log",
    benchmark:
        "results/timings/compute_cap_null.tsv"
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
        permutations=experiment.config.statistics.permutations,
        code=experiment.code("statistics/compute_cap_null.py"),
    script:
        "../../scripts/statistics/compute_cap_null.py"
