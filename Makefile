# Everything runs in .venv, which each target sets up when it is missing or pyproject.toml has changed.
# Needs make, bash and Python 3.11 or newer.

SHELL := /bin/bash
BIN := .venv/bin
RUNS := .venv/.installed
TESTED := .venv/.installed-test
BENCHED := .venv/.installed-bench
comma := ,

.DEFAULT_GOAL := help
.PHONY: help race test test-all browser check attack mutants bench reproduce closing fuzz catalogue docs wheel clean

help:
	@echo "make race      run the learners against each other on built-in data"
	@echo "make test      check, then the tests"
	@echo "make test-all  the same with every combination of rule, task, algebra and options (an hour)"
	@echo "make check     ruff, mypy, import contracts"
	@echo "make attack    hostile model files, data files, caches and texts, each in a process of its own (half an hour)"
	@echo "make mutants   break every rule on purpose and see whether its tests notice (half an hour; less once it has run)"
	@echo "make bench     measure against scikit-learn, River and Vowpal Wabbit"
	@echo "make reproduce compute published results again (data: NOREGRET_DATA, or ARGS='--data DIR')"
	@echo "make closing   write the last table of docs/reproductions.md: every learner, its tests, mutants and results"
	@echo "make fuzz      play thousands of random streams with every learner (ARGS: see python -m verification.fuzz --help)"
	@echo "make catalogue write docs/learners.md from the cards"
	@echo "make docs      run every snippet of the docs"
	@echo "make wheel     build a wheel with object files of the default loops, for this Python and these versions"
	@echo "make clean     remove what the tools leave behind"

race: $(RUNS)
	@$(BIN)/noregret race

test: check
	@$(BIN)/python -m pytest

test-all: export NOREGRET_TEST_ALL = 1
test-all: export NOREGRET_TEST_PART ?= $(shell date +%j)
test-all: browser test

# Playwright, which opens HTML reports in a Chromium of the system; where it cannot be had, those tests are skipped.
browser: $(TESTED)
	@$(BIN)/python -c 'import playwright' 2>/dev/null || \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input -e '.[browser]' || true

check: $(TESTED)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "not formatted: run $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/mypy --strict
	@$(BIN)/lint-imports --no-logo

attack: $(TESTED)
	@$(BIN)/python -m tests.attacks $(ARGS)

mutants: $(TESTED)
	@$(BIN)/python -m verification.mutants $(ARGS)

bench: $(BENCHED)
	@$(BIN)/python -m benchmarks $(ARGS)

reproduce: $(BENCHED)
	@$(BIN)/python -m verification.reproduce $(ARGS)

closing: $(TESTED)
	@$(BIN)/python -m verification.closing

fuzz: $(TESTED)
	@$(BIN)/python -m verification.fuzz $(ARGS)

catalogue: $(RUNS)
	@$(BIN)/python -c 'import noregret as nr; from noregret.evaluation.catalog import page; print(page(nr.learners()), end="")' > docs/learners.md

docs: export NOREGRET_TEST_ALL = 1
docs: $(TESTED)
	@$(BIN)/python -m pytest tests/test_docs.py

# Built with what is installed here, which the object files must fit.
wheel: $(RUNS)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input 'hatchling>=1.27'
	@NOREGRET_WHEEL_LOOPS=1 $(BIN)/python -m pip wheel --disable-pip-version-check --no-deps --no-build-isolation -w dist .

clean:
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis benchmarks/results.json
	@find src tests benchmarks verification -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	        echo "Setting up .venv with $$($$python --version)"; \
	        exec $$python -m venv .venv; \
	    fi; \
	done; \
	echo "noregret needs Python 3.11 or newer with its venv module; none was found on the PATH." >&2; exit 1

# $(call install,EXTRAS,STAMP): one line for each package pip fetches, its errors as they are.
define install
@echo "Installing noregret$(if $(1), and what $(1) needs) (once; a minute or two)"
@set -o pipefail; $(BIN)/python -m pip install --disable-pip-version-check --no-input -e '.$(1)' \
    | awk '/^Collecting / { sub(/[^a-zA-Z0-9._-].*/, "", $$2); print "  " $$2; fflush() } \
           /^Installing collected/ { print "  installing"; fflush() }'
@touch $(2)
endef

# The interpreter is an order-only need: its file time is the system's, not ours.
$(RUNS): pyproject.toml | $(BIN)/python
	$(call install,[all],$@)

$(TESTED): pyproject.toml | $(BIN)/python
	$(call install,[test],$@)

$(BENCHED): pyproject.toml | $(TESTED)
	$(call install,[test$(comma)bench],$@)
