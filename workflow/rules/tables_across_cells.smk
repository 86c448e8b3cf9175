"""Tables across cells: readings, variance shares, reliability, correlations, directions.

Needs: statistics frames, nothing else.
Makes: results/tables/{t01,t08,t09,t16}_* and correlations.*, in four formats each.
Why apart: a rule file holds what fits on a few screens; editing one table writes only that.
"""


rule tabulate_readings:
    input:
        readings="results/statistics/readings.parquet",
    output:
        csv="results/tables/t01_readings.csv",
        markdown="results/tables/t01_readings.md",
        html=report(
            "results/tables/t01_readings.html",
            caption="../report/t01_readings.rst",
            category="Tables",
        ),
        latex="results/tables/t01_readings.tex",
    log:
        "results/logs/tabulate_readings.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_readings.py"),
    script:
        "../../scripts/tables/tabulate_readings.py"


rule tabulate_variance_shares:
    input:
        variance_shares="results/statistics/variance_shares.parquet",
    output:
        csv="results/tables/t08_variance_shares.csv",
        markdown="results/tables/t08_variance_shares.md",
        html=report(
            "results/tables/t08_variance_shares.html",
            caption="../report/t08_variance_shares.rst",
            category="Tables",
        ),
        latex="results/tables/t08_variance_shares.tex",
    log:
        "results/logs/tabulate_variance_shares.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_variance_shares.py"),
    script:
        "../../scripts/tables/tabulate_variance_shares.py"


rule tabulate_reliability:
    input:
        split_half="results/statistics/split_half.parquet",
        uniformity="results/statistics/uniformity.parquet",
    output:
        csv="results/tables/t09_reliability.csv",
        markdown="results/tables/t09_reliability.md",
        html=report(
            "results/tables/t09_reliability.html",
            caption="../report/t09_reliability.rst",
            category="Tables",
        ),
        latex="results/tables/t09_reliability.tex",
    log:
        "results/logs/tabulate_reliability.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_reliability.py"),
    script:
        "../../scripts/tables/tabulate_reliability.py"


rule tabulate_correlations:
    input:
        correlations="results/statistics/correlations.parquet",
        gaps="results/statistics/correlation_gaps.parquet",
        profiles="results/statistics/profiles.parquet",
    output:
        csv="results/tables/correlations.csv",
        markdown="results/tables/correlations.md",
        html=report(
            "results/tables/correlations.html",
            caption="../report/correlations.rst",
            category="Tables",
        ),
        latex="results/tables/correlations.tex",
    log:
        "results/logs/tabulate_correlations.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_correlations.py"),
    script:
        "../../scripts/tables/tabulate_correlations.py"


rule tabulate_opposite_directions:
    input:
        opposite_directions="results/statistics/opposite_directions.parquet",
    output:
        csv="results/tables/t16_opposite_directions.csv",
        markdown="results/tables/t16_opposite_directions.md",
        html=report(
            "results/tables/t16_opposite_directions.html",
            caption="../report/t16_opposite_directions.rst",
            category="Tables",
        ),
        latex="results/tables/t16_opposite_directions.tex",
    log:
        "results/logs/tabulate_opposite_directions.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_opposite_directions.py"),
    script:
        "../../scripts/tables/tabulate_opposite_directions.py"
