"""Tables of controls, and the target of all tables.

Needs: statistics frames, and the other two files of tables for the target `tables`.
Makes: results/tables/{t07,t11,t12}_*, in four formats each.
Why apart: each asks whether a finding has a simpler reason; included after the other tables.
"""


rule tabulate_margin_controls:
    input:
        margin_summary="results/statistics/margin_summary.parquet",
    output:
        csv="results/tables/t07_margin_controls.csv",
        markdown="results/tables/t07_margin_controls.md",
        html=report(
            "results/tables/t07_margin_controls.html",
            caption="../report/t07_margin_controls.rst",
            category="Tables",
        ),
        latex="results/tables/t07_margin_controls.tex",
    log:
        "results/logs/tabulate_margin_controls.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_margin_controls.py"),
    script:
        "../../scripts/tables/tabulate_margin_controls.py"


rule tabulate_cap_controls:
    input:
        cap_null="results/statistics/cap_null.parquet",
    output:
        csv="results/tables/t11_cap_controls.csv",
        markdown="results/tables/t11_cap_controls.md",
        html=report(
            "results/tables/t11_cap_controls.html",
            caption="../report/t11_cap_controls.rst",
            category="Tables",
        ),
        latex="results/tables/t11_cap_controls.tex",
    log:
        "results/logs/tabulate_cap_controls.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_cap_controls.py"),
    script:
        "../../scripts/tables/tabulate_cap_controls.py"


rule tabulate_held_out_accuracy:
    input:
        held_out="results/statistics/held_out.parquet",
    output:
        csv="results/tables/t12_held_out_accuracy.csv",
        markdown="results/tables/t12_held_out_accuracy.md",
        html=report(
            "results/tables/t12_held_out_accuracy.html",
            caption="../report/t12_held_out_accuracy.rst",
            category="Tables",
        ),
        latex="results/tables/t12_held_out_accuracy.tex",
    log:
        "results/logs/tabulate_held_out_accuracy.log",
    conda:
        "../../envs/analysis.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
        gpu=0,
    params:
        code=experiment.code("tables/tabulate_held_out_accuracy.py"),
    script:
        "../../scripts/tables/tabulate_held_out_accuracy.py"


rule tables:
    input:
        rules.tabulate_factors.output,
        rules.tabulate_checkpoints.output,
        rules.tabulate_pools.output,
        rules.tabulate_readings.output,
        rules.tabulate_variance_shares.output,
        rules.tabulate_reliability.output,
        rules.tabulate_correlations.output,
        rules.tabulate_opposite_directions.output,
        rules.tabulate_margin_controls.output,
        rules.tabulate_cap_controls.output,
        rules.tabulate_held_out_accuracy.output,
