# make demo: see a small model get better.  make test: everything, on a real model.  Both set up .venv on the first call.
# The first set-up compiles llama-cpp-python (5 to 10 minutes on two cores); later ones take its wheel from pip's cache.

SHELL := bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test lint bench clean

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	  "$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v "$$p" && break; done)
INSTALLED := .venv/.installed
DIR ?= demo

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 10

demo: $(INSTALLED) ## tasks, answers, scores, training, gate, on the packaged model, in $(DIR)
	.venv/bin/clawctl demo $(DIR)

test: $(INSTALLED) ## the whole suite, the slow tests with the real model included
	.venv/bin/python -m pytest

lint: $(INSTALLED) ## ruff and mypy
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench: $(INSTALLED) ## every figure against its peer
	@for script in bench/*.py; do echo "== $$script"; .venv/bin/python "$$script" || exit 1; done

$(INSTALLED): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "clawctl needs Python 3.11 or later (with venv); set PYTHON=/path/to/python3" >&2; exit 1; }
	@start=$$SECONDS; set -e; \
	  "$(PYTHON)" -m venv .venv; \
	  .venv/bin/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[all,dev]'; \
	  touch $@; echo "installed with $$(.venv/bin/python -V) in $$((SECONDS - start)) s"

clean: ## remove .venv and caches; data/ stays
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache
