"""Figures of the statistics across cells: canonical margin, cap null, post-training.

Needs: statistics frames, nothing else.
Makes: results/figures/f07_*, f08_* and f09_*, each as svg, pdf and png.
Why apart: rule `figures` collects them; one file would hold too many rules to read.
"""


rule plot_canonical_margin:
    input:
        margins="results/statistics/margins.parquet",
        margin_summary="results/statistics/margin_summary.parquet",
    output:
        svg=report(
            "results/figures/f07_canonical_margin.svg",
            caption="../report/f07_canonical_margin.rst",
            category="Figures",
        ),
        pdf="results/figures/f07_canonical_margin.pdf",
        png="results/figures/f07_canonical_margin.png",
    log:
        "results/logs/plot_canonical_margin.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("figures/plot_canonical_margin.py"),
    script:
        "../../scripts/figures/plot_canonical_margin.py"


rule plot_cap_null:
    input:
        cap_null="results/statistics/cap_null.parquet",
        factors="results/statistics/factors.parquet",
    output:
        svg=report(
            "results/figures/f08_cap_null.svg",
            caption="../report/f08_cap_null.rst",
            category="Figures",
        ),
        pdf="results/figures/f08_cap_null.pdf",
        png="results/figures/f08_cap_null.png",
    log:
        "results/logs/plot_cap_null.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("figures/plot_cap_null.py"),
    script:
        "../../scripts/figures/plot_cap_null.py"


rule plot_post_training:
    input:
        checkpoint_pairs="results/statistics/checkpoint_pairs.parquet",
    output:
        svg=report(
            "results/figures/f09_post_training.svg",
            caption="../report/f09_post_training.rst",
            category="Figures",
        ),
        pdf="results/figures/f09_post_training.pdf",
        png="results/figures/f09_post_training.png",
    log:
        "results/logs/plot_post_training.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("figures/plot_post_training.py"),
    script:
        "../../scripts/figures/plot_post_training.py"
