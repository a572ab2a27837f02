# Every target sets up what it needs: a virtual environment with the pinned versions of constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint types layers golden faults fuzz processors bench integrations pythons docs clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/core.stamp

demo: $(VENV)/core.stamp ## Simulate a marketplace, judge four models on it, write unskew-demo/report.html
	$(BIN)/unskew demo

test: lint types layers ## Lint, types, layers and all tests that are not slow
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow" --durations=20

test-all: lint types layers ## The same with the slow tests
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(VENV)/dev.stamp ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp ## Check types
	$(BIN)/mypy

layers: $(VENV)/dev.stamp ## Check which module imports which
	$(BIN)/lint-imports

golden: $(VENV)/dev.stamp ## Write anew what tests/golden compares with, after a change of numbers that is meant
	$(BIN)/python tests/golden/make_golden.py

faults: $(VENV)/dev.stamp ## Kill and hurt real commands, KILLS times (200), and check what they leave (slow)
	$(BIN)/python tests/faults/run.py --kills $(or $(KILLS),200) --seed $(or $(SEED),1)

processors: $(VENV)/dev.stamp ## Run the golden tests as on other processors, locales and limits (slow)
	$(BIN)/python tests/golden/run_processors.py

bench: $(VENV)/dev.stamp ## Measure speed against the matrix product and other packages, and memory
	$(PIP) --editable '.[bench]'
	$(BIN)/python benchmarks/run.py

fuzz: $(VENV)/dev.stamp ## Try N hostile inputs (N=100000, SEED=0), and count what became of them
	$(BIN)/python tests/fuzz/run.py $(or $(N),100000) --seed $(or $(SEED),0)

integrations: $(VENV)/core.stamp ## Run each recipe for other packages' models in an environment of its own (slow)
	$(BIN)/python tests/integrations/run_recipes.py
	$(BIN)/python tests/integrations/run_peers.py

pythons: | $(BIN)/python ## Run the tests under each Python of the classifiers that is installed, or those in PYTHONS
	$(BIN)/python tests/run_pythons.py $(PYTHONS)

docs: $(VENV)/dev.stamp ## Build the documentation, running every code block in it
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean: ## Remove the environment and everything built
	rm -rf $(VENV) docs/_build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .integrations .pythons unskew-demo
