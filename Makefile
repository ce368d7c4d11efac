# Every command a person or CI needs. `make help` lists them.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
PYTEST_ARGS ?= --numprocesses auto --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-reset test check lint messages chromium constraints

help: ## List these commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '%-20s %s\n' "$$name" "$$text"; done

setup: .venv/ready ## Make .venv with the pinned dependencies; does nothing if they are there

.venv/ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Signalbox needs Python 3.11 or newer: install it, or name it: make setup PYTHON=..." >&2; exit 1; }
	@echo "Installing the dependencies into .venv"
	@if command -v uv >/dev/null; then \
		{ test -x $(BIN)/python || uv venv --quiet --python "$(PYTHON)" .venv; } && \
		uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'; \
	else \
		{ test -x $(BIN)/pip || "$(PYTHON)" -m venv --clear .venv; } && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'; \
	fi
	@touch $@

demo: setup ## Run everything on embedded services, with people and refunds to click on
	@exec $(MANAGE) demo

demo-reset: setup ## Remove what the demo has stored
	@$(MANAGE) demo --reset

test: setup chromium ## Run the tests (PYTEST_ARGS=... replaces the default arguments)
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not page"
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m page  # apart: a browser keeps an event loop running

lint: setup ## Check style, types, imports, templates, settings and migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	find templates -name '*.html' -exec $(BIN)/djade --target-version 5.2 --check {} +
	SIGNALBOX_HTTPS=1 $(MANAGE) check --deploy --fail-level WARNING
	$(MANAGE) makemigrations --check --dry-run

check: lint test ## Everything that CI runs

chromium:
	@sh .ci/chromium

messages: setup ## Collect the words of the interface into locale/ and compile them
	$(MANAGE) translations

constraints: ## Pin the newest versions that pyproject.toml allows (needs uv)
	uv pip compile --quiet --universal --all-extras --upgrade --no-annotate --no-header pyproject.toml --output-file constraints.txt
