"""Figures: SVG, PDF and PNG, the same bytes for the same statistics.

Needs: statistics frames, nothing else.
Makes: results/figures/*.{svg,pdf,png}.
Why apart: editing one figure draws it again and nothing else.
"""


rule plot_two_factors:
    input:
        factors="results/statistics/factors.parquet",
    output:
        svg=report(
            "results/figures/f01_two_factors.svg",
            caption="../report/f01_two_factors.rst",
            category="Figures",
        ),
        pdf="results/figures/f01_two_factors.pdf",
        png="results/figures/f01_two_factors.png",
    log:
        "results/logs/plot_two_factors.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("figures/plot_two_factors.py"),
    script:
        "../../scripts/figures/plot_two_factors.py"


rule plot_schematic:
    output:
        svg=report(
            "results/figures/f02_schematic.svg",
            caption="../report/f02_schematic.rst",
            category="Figures",
        ),
        pdf="results/figures/f02_schematic.pdf",
        png="results/figures/f02_schematic.png",
    log:
        "results/logs/plot_schematic.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("figures/plot_schematic.py"),
    script:
        "../../scripts/figures/plot_schematic.py"


rule plot_factors_and_accuracy:
    input:
        factors="results/statistics/factors.parquet",
        correlations="results/statistics/correlations.parquet",
        pairs="results/statistics/opposite_pairs.parquet",
    output:
        svg=report(
            "results/figures/f03_factors_and_accuracy.svg",
            caption="../report/f03_factors_and_accuracy.rst",
            category="Figures",
        ),
        pdf="results/figures/f03_factors_and_accuracy.pdf",
        png="results/figures/f03_factors_and_accuracy.png",
    log:
        "results/logs/plot_factors_and_accuracy.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("figures/plot_factors_and_accuracy.py"),
    script:
        "../../scripts/figures/plot_factors_and_accuracy.py"


rule figures:
    input:
        rules.plot_two_factors.output,
        rules.plot_schematic.output,
        rules.plot_factors_and_accuracy.output,
        rules.plot_canonical_margin.output,
        rules.plot_cap_null.output,
        rules.plot_post_training.output,
