# `make demo`, then `make test`. All that is needed is Python 3.11 or later and make; `make help` lists the rest.

VENV ?= .venv
WORKERS ?= auto
SHARD ?= 1/1
RUN := $(VENV)/bin/python
PIP = $(1)/bin/python -m pip install --quiet --disable-pip-version-check
PYTEST := -m pytest -n $(WORKERS) --dist worksteal

# Test workers share the processors: one thread of linear algebra each. Not for benchmarks: peers may use what they like.
test audit compat: export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint audit bench arena reproduce docs compat build

help:  ## List what can be made
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

demo: $(VENV)/.installed  ## Fit a private mixture to a real table and write demo-report.html
	@$(VENV)/bin/tacit demo --output demo-report.html

test: $(VENV)/.installed-dev  ## The whole fast suite: tests, and the examples in docstrings
	$(RUN) $(PYTEST)

lint: $(VENV)/.installed-dev  ## Style, types and the one-way arrows between rooms
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports

audit: $(VENV)/.installed-dev  ## The long attacks on privacy (an hour on two cores); SHARD=2/4 runs a part of them
	$(RUN) $(PYTEST) -m slow -vv --durations=20 --shard $(SHARD) tests/privacy

bench: $(VENV)/.installed-bench  ## Measure against the peers; JSON goes to benchmarks/results/
	@for file in $(filter-out benchmarks/arena%,$(wildcard benchmarks/*.py)); do \
	    echo "== $$file"; $(RUN) $$file || exit 1; \
	done

arena: $(VENV)/.installed-dev  ## Fit every model to the real tables of the arena (hours) and write docs/arena.md
	$(RUN) benchmarks/arena.py
	$(RUN) benchmarks/arena.py --docs docs/arena.md

reproduce: $(VENV)/.installed-plot  ## Draw the figures and tables of the papers; they go to experiments/results/
	@for file in experiments/[a-z]*.py; do \
	    module=$$(basename $$file .py); echo "== $$module"; $(RUN) -m experiments.$$module || exit 1; \
	done

docs: $(VENV)/.installed-docs  ## Build the documentation in site/
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict

compat: $(VENV)-oldest/.compat $(VENV)-newest/.compat  ## The fast suite with the oldest and the newest dependencies
	$(VENV)-oldest/bin/python $(PYTEST)
	$(VENV)-newest/bin/python $(PYTEST)

build: $(VENV)/.installed-dev  ## Build the wheel and the source distribution in dist/, and look inside
	$(call PIP,$(VENV)) build
	$(RUN) -m build --outdir dist
	$(RUN) .ci/check_dist.py dist

# Stamps: an environment is made once, and its packages are installed again only when pyproject.toml has changed.
# make demo needs no extras; .installed-dev, .installed-docs and so on are the extras of pyproject.toml.

$(VENV)/.installed: pyproject.toml | $(RUN)
	@echo "Installing tacit in $(VENV); the first time this takes a minute or two ..."
	@$(call PIP,$(VENV)) -e .
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(RUN)
	@echo "Installing tacit with what '$*' needs in $(VENV) ..."
	@$(call PIP,$(VENV)) -e '.[$*]'
	@touch $@

$(VENV)-oldest/.compat: pyproject.toml | $(VENV)-oldest/bin/python
	$(VENV)-oldest/bin/python .ci/oldest.py > $(VENV)-oldest/oldest.txt
	$(call PIP,$(VENV)-oldest) -e '.[dev]' --constraint $(VENV)-oldest/oldest.txt
	@touch $@

$(VENV)-newest/.compat: pyproject.toml | $(VENV)-newest/bin/python
	$(call PIP,$(VENV)-newest) --upgrade --upgrade-strategy eager -e '.[dev]'
	@touch $@

# The first Python that is new enough and can make environments; PYTHON=... names one.
%/bin/python:
	@for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3 python); do \
	    if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Making $* with $$($$python --version) ..."; exec $$python -m venv $*; \
	    fi; \
	done; \
	echo "tacit needs Python 3.11 or later with its venv module, and there is none;" \
	    "$(or $(PYTHON),python3) is $$($(or $(PYTHON),python3) --version 2>&1 || echo missing)." \
	    "Install one (on Debian or Ubuntu: apt-get install python3-venv), or name it:" \
	    "make PYTHON=/path/to/python3.11" >&2; exit 1
