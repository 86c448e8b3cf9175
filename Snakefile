"""How much of a multiple-choice score is the order of the options?

The experiment from configuration to report, one stage per rule file:

    config ─► items ─► cells ─► store ─► statistics ─► tables, figures ─► report

`snakemake` runs everything; the targets below stop after one stage.
"""

from snakemake.utils import min_version

min_version("9.20")


# Another configuration replaces the demo's instead of being merged into it.
if "panels" not in config:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/items.smk"
include: "workflow/rules/checkpoints.smk"
include: "workflow/rules/cells.smk"
include: "workflow/rules/store.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/across_cells.smk"
include: "workflow/rules/across_cells_by_item.smk"
include: "workflow/rules/figures_across_cells.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/tables_across_cells.smk"
include: "workflow/rules/tables_of_controls.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    cells,
    store,
    statistics,
    figures,
    tables,


rule all:
    default_target: True
    input:
        rules.store.input,
        rules.statistics.input,
        rules.figures.input,
        rules.tables.input,
        rules.copy_definitions.output,
