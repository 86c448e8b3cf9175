"""Tables of cells: CSV with every digit; Markdown, LaTeX and HTML for reading.

Needs: statistics frames, nothing else.
Makes: results/tables/{factors,t03_checkpoints,t04_pools}.{csv,md,tex,html}.
Why apart: editing one table writes it again and nothing else.
"""


rule tabulate_factors:
    input:
        factors="results/statistics/factors.parquet",
        summaries="results/statistics/cell_summaries.parquet",
        apart="results/statistics/order_dependent.parquet",
    output:
        csv="results/tables/factors.csv",
        markdown="results/tables/factors.md",
        html=report(
            "results/tables/factors.html",
            caption="../report/factors.rst",
            category="Tables",
        ),
        latex="results/tables/factors.tex",
    log:
        "results/logs/tabulate_factors.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_factors.py"),
    script:
        "../../scripts/tables/tabulate_factors.py"


rule tabulate_checkpoints:
    input:
        checkpoints="results/statistics/checkpoints.parquet",
    output:
        csv="results/tables/t03_checkpoints.csv",
        markdown="results/tables/t03_checkpoints.md",
        html=report(
            "results/tables/t03_checkpoints.html",
            caption="../report/t03_checkpoints.rst",
            category="Tables",
        ),
        latex="results/tables/t03_checkpoints.tex",
    log:
        "results/logs/tabulate_checkpoints.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_checkpoints.py"),
    script:
        "../../scripts/tables/tabulate_checkpoints.py"


rule tabulate_pools:
    input:
        pools="results/statistics/pools.parquet",
        exclusions="results/statistics/exclusions.parquet",
        omitted="results/statistics/omitted.parquet",
    output:
        csv="results/tables/t04_pools.csv",
        markdown="results/tables/t04_pools.md",
        html=report(
            "results/tables/t04_pools.html",
            caption="../report/t04_pools.rst",
            category="Tables",
        ),
        latex="results/tables/t04_pools.tex",
    log:
        "results/logs/tabulate_pools.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_pools.py"),
    script:
        "../../scripts/tables/tabulate_pools.py"
