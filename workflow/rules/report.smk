"""Report: what the HTML report needs beside figures and tables.

Needs: the page of definitions, which captions link.
Makes: results/definitions.md, so that the links hold wherever the results are moved.
`snakemake --report` itself is no rule: `make report` calls it after everything else.
"""

import os


localrules:
    copy_definitions,


# A relative path, so that moving the repository with its results leaves the copy up to date.
rule copy_definitions:
    input:
        page=os.path.relpath(os.path.join(workflow.basedir, "docs/definitions.md")),
    output:
        page=report("results/definitions.md", category="Definitions"),
    log:
        "results/logs/copy_definitions.log",
    conda:
        "../../envs/analysis.yaml"
    shell:
        "cp {input.page} {output.page} 2> {log}"
