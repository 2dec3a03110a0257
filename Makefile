# Everything runs in .venv, which `make` builds from pyproject.toml when it is missing or older.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test bench lint clean

demo: .venv/ready
	$(BIN)/tensim run matmul_multicast --timeline timeline.json

test: .venv/ready
	$(BIN)/python -m pytest -n 2

bench: .venv/ready
	$(BIN)/python -m bench

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build *.egg-info timeline.json
