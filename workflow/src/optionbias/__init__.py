"""optionbias: how much of a multiple-choice score is the order of the options?

Data flows one way: config, items, prompts, letter log-probabilities, store,
statistics, tables and figures. Each step is a module or a folder here, and
imports point only towards earlier steps.
"""

__version__ = "0.1.0"
