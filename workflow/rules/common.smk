"""The checked configuration, for every rule file.

Needs: the configuration, and nothing heavy: each remote job parses these files again.
Makes: `experiment`, which answers the rules' questions about ids, inputs and params.
"""

import re

from snakemake.exceptions import WorkflowError

from optionbias.config.experiment import Experiment
from optionbias.errors import UserError

try:
    experiment = Experiment.load(config, workflow.configfiles, workflow.basedir)
except UserError as error:
    raise WorkflowError(str(error)) from None


wildcard_constraints:
    readout="|".join(sorted({cell.readout for cell in experiment.cells})),
    benchmark="|".join(map(re.escape, experiment.benchmarks)),
    checkpoint="|".join(map(re.escape, experiment.checkpoints)),
