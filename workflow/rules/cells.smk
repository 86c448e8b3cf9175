"""Cells: one readout × benchmark × checkpoint each, one job each, on a GPU where there is one.

Needs: the benchmark's items, its few-shot examples for readouts that show some, and the
checkpoint's manifest.
Makes: results/cells/{readout}/{benchmark}/{checkpoint}.parquet, one row per query.
Why apart: these are the GPU hours. A kill loses at most the cell that runs, and a cell runs
again only when its items, weights, prompt, design, precision or scoring code changes.
"""


rule score_cell:
    input:
        manifest="results/checkpoints/{checkpoint}.json",
        asked="results/items/{benchmark}.parquet",
        shots=experiment.cell_shots,
    output:
        cell="results/cells/{readout}/{benchmark}/{checkpoint}.parquet",
    log:
        "results/logs/score_cell/{readout}/{benchmark}/{checkpoint}.log",
    benchmark:
        "results/timings/score_cell/{readout}/{benchmark}/{checkpoint}.tsv"
    conda:
        "../../envs/scoring.yaml"
    threads: 8
    resources:
        mem_mb=experiment.cell_memory_mb,
        runtime=240,
        gpu=1,
        # A resource and no param: it shapes speed, not results, so it re-scores nothing.
        token_budget=experiment.token_budget,
    params:
        design=experiment.cell_design,
        orderings=experiment.cell_orderings,
        choice=experiment.cell_limit,
        style=experiment.prompt_style,
        computation=experiment.computation,
        code=experiment.code("cells/score_cell.py"),
    script:
        "../../scripts/cells/score_cell.py"


rule cells:
    input:
        experiment.cell_paths,
