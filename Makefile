# Everything a developer or an operator types. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

SIZE ?= 100000
ROUNDS ?= 50
SEED ?=
ARGS ?=
UPGRADE ?=

VENV := .venv
BIN := $(VENV)/bin
LOCKS := requirements/build.lock requirements/dev.lock requirements/runtime.lock
PINS := $(LOCKS) pyproject.toml $(wildcard cdc/stack/artifacts.lock)

# The stamps carry the hash of what they were made from: an edited lock runs setup again, a `touch` or a
# fresh clone of the same files does not.
hash = $(shell cat $(1) | (sha256sum 2>/dev/null || shasum -a 256) | cut -c1-16)
INSTALLED := $(VENV)/.installed-$(call hash,$(LOCKS))
READY := $(VENV)/.ready-$(call hash,$(PINS))

COMPILE := pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header $(if $(UPGRADE),--upgrade)

.PHONY: help setup demo test lint format bench chaos up down clean lock

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Make the environment, install the locked packages, fetch the pinned jars and binaries

demo: setup ## Start the stack, capture a sample shop, show what arrived, stop (SIZE=100000 orders)
	@$(BIN)/cdc demo --orders $(SIZE)

test: lint ## Set up, lint, run all tests (ARGS="-k name" narrows them)
	@$(BIN)/pytest $(ARGS)

lint: setup ## Check style and types, change nothing
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: setup ## Let ruff rewrite what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: setup ## Measure on the real stack and print the figures
	@$(BIN)/pytest -s -p no:randomly $(ARGS) tests/bench/bench_*.py

chaos: setup ## Kill services under load and prove that nothing is lost (ROUNDS=50 SEED=number)
	@ROUNDS=$(ROUNDS) SEED=$(SEED) $(BIN)/pytest -s $(ARGS) tests/chaos

up: setup ## Start the embedded stack and leave it running
	@$(BIN)/cdc stack up

down: setup ## Stop the embedded stack, keep its data
	@$(BIN)/cdc stack down

clean: ## Stop the stack, delete its data, the environment and all caches of this checkout
	@if [ -e $(READY) ]; then $(BIN)/cdc stack reset --yes; fi
	@rm -rf .cdc $(VENV) build dist ./*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@rm -rf spark-warehouse metastore_db derby.log
	@find cdc connectors sinks snapshots tests -type d -name __pycache__ -prune -exec rm -rf {} +

lock: ## Pin the Python packages again (UPGRADE=1 moves to the newest versions)
	@tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; \
	python=$$($(find_python)); \
	"$$python" -m venv "$$tools"; "$$tools/bin/pip" install --quiet uv; uv="$$tools/bin/uv"; \
	echo "==> requirements/build.lock"; \
	printf 'setuptools>=80\nwheel\n' | "$$uv" $(COMPILE) - --output-file requirements/build.lock >/dev/null; \
	echo "==> requirements/runtime.lock"; \
	"$$uv" $(COMPILE) pyproject.toml --extra sinks --output-file requirements/runtime.lock >/dev/null; \
	echo "==> requirements/dev.lock"; \
	"$$uv" $(COMPILE) pyproject.toml --extra dev --constraint requirements/build.lock \
		--constraint requirements/runtime.lock --output-file requirements/dev.lock >/dev/null

# Prints the first usable interpreter. A name on PATH may be a shim that does not run, hence the try.
define find_python
usable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; \
for candidate in $(PYTHON) python3 python3.11 python3.12 python3.13 python3.14; do \
	if "$$candidate" -c "$$usable" >/dev/null 2>&1; then echo "$$candidate"; exit 0; fi; \
done; \
echo "Error: no Python 3.11 or newer with the venv module was found." >&2; \
echo "Try: install python3.11 and python3.11-venv, or name one: make setup PYTHON=/path/to/python3" >&2; \
exit 1
endef

$(INSTALLED):
	@python=$$($(find_python)); \
	echo "==> environment $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv $(VENV)
	@echo "==> build tools"
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/build.lock
	@echo "==> locked packages (the first time a few minutes: Spark is 450 MB)"
	@$(BIN)/python -m pip install --no-build-isolation --require-hashes -r requirements/dev.lock
	@rm -f $(VENV)/.installed-* && touch $@

$(READY): $(INSTALLED)
	@echo "==> this project"
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@echo "==> pinned jars and binaries"
	@$(BIN)/cdc stack fetch
	@rm -f $(VENV)/.ready-* && touch $@
