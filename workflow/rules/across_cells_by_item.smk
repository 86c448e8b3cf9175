"""Statistics across cells that need every item: halves, folds, margins, pairs of checkpoints.

Needs: the answers of every cell; `compare_checkpoints` the factors as well.
Makes: results/statistics/{split_half,held_out,margins,checkpoint_pairs,…}.parquet.
Why apart: they run beside the factors, not after them.
"""


rule compute_split_half:
    input:
        answers="results/statistics/answers.parquet",
        cells="results/statistics/cells.parquet",
    output:
        split_half="results/statistics/split_half.parquet",
    log:
        "results/logs/compute_split_half.log",
    benchmark:
        "results/timings/compute_split_half.tsv"
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
        gpu=0,
    params:
        seed=experiment.config.seeds.statistics,
        splits=experiment.config.statistics.splits,
        code=experiment.code("statistics/compute_split_half.py"),
    script:
        "../../scripts/statistics/compute_split_half.py"


rule compute_held_out_accuracy:
    input:
        answers="results/statistics/answers.parquet",
        cells="results/statistics/cells.parquet",
    output:
        held_out="results/statistics/held_out.parquet",
    log:
        "results/logs/compute_held_out_accuracy.log",
    benchmark:
        "results/timings/compute_held_out_accuracy.tsv"
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
        code=experiment.code("statistics/compute_held_out_accuracy.py"),
    script:
        "../../scripts/statistics/compute_held_out_accuracy.py"


rule compute_margins:
    input:
        answers="results/statistics/answers.parquet",
        cells="results/statistics/cells.parquet",
    output:
        margins="results/statistics/margins.parquet",
        summary="results/statistics/margin_summary.parquet",
    log:
        "results/logs/compute_margins.log",
    benchmark:
        "results/timings/compute_margins.tsv"
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
        few_flipping_items=experiment.config.statistics.few_flipping_items,
        code=experiment.code("statistics/compute_margins.py"),
    script:
        "../../scripts/statistics/compute_margins.py"


rule compare_checkpoints:
    input:
        answers="results/statistics/answers.parquet",
        cells="results/statistics/cells.parquet",
        factors="results/statistics/factors.parquet",
    output:
        pairs="results/statistics/checkpoint_pairs.parquet",
        trends="results/statistics/scale_trends.parquet",
        directions="results/statistics/opposite_directions.parquet",
    log:
        "results/logs/compare_checkpoints.log",
    benchmark:
        "results/timings/compare_checkpoints.tsv"
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
        code=experiment.code("statistics/compare_checkpoints.py"),
    script:
        "../../scripts/statistics/compare_checkpoints.py"


rule statistics:
    input:
        rules.collect_answers.output,
        rules.compute_factors.output,
        rules.compute_pools.output,
        rules.compare_cells.output,
        rules.correlate_cells.output,
        rules.compute_variance_shares.output,
        rules.compute_cap_null.output,
        rules.compute_split_half.output,
        rules.compute_held_out_accuracy.output,
        rules.compute_margins.output,
        rules.compare_checkpoints.output,
