# `make demo` and `make test` set up everything they need in .venv.
#
# PYTHON         the Python to build .venv with, 3.11 or newer
# TORCH_OPTIONS  options of pip for torch alone, such as the index of its CPU builds
# CORES          cores for the workflow
# BENCH_OPTIONS  options of benchmarks/scoring.py, such as --keys zero_shot --rounds 1, or of
#                benchmarks/statistics_stage.py, such as --checkpoints 4 --items 50

PYTHON ?= python3
TORCH_OPTIONS ?=
CORES ?= all
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PANEL := panel
INSTALL_LISTED := xargs -r $(PIP) install --no-deps
LM_EVAL := benchmarks/.venv-lm-eval
LM_EVAL_PIP := $(LM_EVAL)/bin/python -m pip --disable-pip-version-check --quiet
# Not `--quiet all`, which would swallow errors as well.
WRITE_REPORT := $(BIN)/snakemake --report results/report.html --quiet progress rules host reason

.PHONY: demo test panel report missing checks bench-scoring bench-statistics environment help

help:
	@grep -E '^# |^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^# ?//; s/:.*## /\t/'

environment: $(VENV)/installed

$(VENV)/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; set PYTHON=…")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the packages of requirements.lock into $(VENV)"
	@$(PIP) install $(TORCH_OPTIONS) "$$(grep '^torch==' requirements.lock)"
	@$(PIP) install --requirement requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: environment ## run the main job on the demo's checkpoints and benchmarks
	@$(BIN)/optionbias requirements | $(INSTALL_LISTED)
	@# The checkpoints are small: a cell a core is faster than several cores on one cell.
	@$(BIN)/snakemake --cores $(CORES) --set-threads score_cell=1
	@$(WRITE_REPORT)
	@echo "figures: results/figures   tables: results/tables   report: $(CURDIR)/results/report.html"

report: environment ## run what is missing, then write results/report.html
	@$(BIN)/snakemake --cores $(CORES)
	@$(WRITE_REPORT)
	@echo "report: $(CURDIR)/results/report.html"

test: environment ## run the tests
	@$(BIN)/optionbias requirements | $(INSTALL_LISTED)
	@$(BIN)/python -m pytest

panel: environment ## run the published benchmarks; CASES names the folder that holds them
	@test -n "$(CASES)" || { echo "name the folder with the items: make panel CASES=FOLDER"; exit 2; }
	@$(BIN)/optionbias requirements --config config/panel.yaml | $(INSTALL_LISTED)
	@OPTIONBIAS_CASES="$(abspath $(CASES))" $(BIN)/snakemake --cores $(CORES) --keep-going \
		--directory $(PANEL) --configfile config/panel.yaml

missing: environment ## list failed cells, with the lines that leave them out
	@$(BIN)/optionbias missing

checks: environment ## ruff, mypy, snakefmt, snakemake --lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/snakemake --lint

bench-scoring: environment $(LM_EVAL)/installed ## measure the engine against lm-eval; CASES as for panel
	@test -n "$(CASES)$$OPTIONBIAS_CASES" || \
		{ echo "name the folder with the items: make bench-scoring CASES=FOLDER"; exit 2; }
	@$(BIN)/python benchmarks/scoring.py requirements | $(INSTALL_LISTED)
	@# A setting for one job's threads must not slow one of the engines alone.
	@$(if $(CASES),OPTIONBIAS_CASES="$(abspath $(CASES))") \
		env $$(env | sed -n 's/^\(OPENBLAS_[A-Z_]*\)=.*/-u \1/p') \
		$(BIN)/python benchmarks/scoring.py measure $(BENCH_OPTIONS)

bench-statistics: environment ## measure the statistics stage on a simulated panel of the paper's size
	@# One thread, as Snakemake gives each job, and no setting of the shell's own.
	@env $$(env | sed -n 's/^\(OPENBLAS_[A-Z_]*\)=.*/-u \1/p') OMP_NUM_THREADS=1 \
		$(BIN)/python benchmarks/statistics_stage.py measure $(BENCH_OPTIONS)
	@$(BIN)/python benchmarks/statistics_stage.py coverage

$(LM_EVAL)/installed: requirements.lock | $(VENV)/installed
	@test -x $(LM_EVAL)/bin/python || $(BIN)/python -m venv $(LM_EVAL)
	@echo "installing lm-evaluation-harness into $(LM_EVAL)"
	@$(LM_EVAL_PIP) install $(TORCH_OPTIONS) "$$(grep '^torch==' requirements.lock)"
	@$(LM_EVAL_PIP) install 'lm_eval[hf]==0.4.13' \
		$$(grep -E '^(torch|transformers|tokenizers|numpy)==' requirements.lock)
	@touch $@
