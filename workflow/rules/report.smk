"""Report: what the HTML report needs beside figures and tables.

Needs: the page of definitions, which captions link.
Makes: results/definitions.md, so that the links hold wherever the results are moved.
`snakemake --report` itself is no rule: `make report` calls it after everything else.
"""


localrules:
    copy_definitions,


rule copy_definitions:
    input:
        page=workflow.source_path("../../docs/definitions.md"),
    output:
        page=report("results/definitions.md", category="Definitions"),
    log:
        "results/logs/copy_definitions.log",
    conda:
        "../../envs/analysis.yaml"
    shell:
        "cp {input.page} {output.page} 2> {log}"
