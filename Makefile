# `make help` lists the commands. All of them use .venv, which is created first.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

BIN := .venv/bin
STAMPS := .venv/stamps
BUILT_FROM := pyproject.toml Cargo.toml Cargo.lock .cargo/config.toml $(shell find crates -type f)

# Variables of the calling shell must not affect the build.
export VIRTUAL_ENV := $(CURDIR)/.venv
export PATH := $(CURDIR)/.venv/bin:$(PATH):$(HOME)/.cargo/bin
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport CONDA_PREFIX PYTHONHOME PYTHONPATH

PYTHON_FUZZ := tests/properties/test_fuzzed_lines.py tests/doors/test_redis_fuzz.py

.PHONY: help demo serve test check lint rust-test bench counts faults fuzz sanitize docs docs-check wheel sbom audit lock clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

demo: $(STAMPS)/run ## find near-duplicates in the sample documents, index and search them
	@examples/demo.sh

serve: $(STAMPS)/service ## serve the sample documents and images, with web pages, at http://127.0.0.1:8000 (SERVE="docs.benzer --port 9000")
	$(BIN)/benzer serve $(SERVE)

test: $(STAMPS)/test lint rust-test ## run all linters, type checks, layer checks and tests
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 25 $(PYTEST)

check: $(STAMPS)/test lint ## run the linters and the fast tests, in about three minutes: for every change
	$(BIN)/pytest -n 2 --dist loadfile -q -m "not slow" tests/unit tests/contracts $(PYTEST)

lint: $(STAMPS)/test ## check formatting, types, layers and wording
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tools.check_prose

rust-test: $(STAMPS)/test ## test the native core, with the fuzz targets on their seeds
	cargo test --locked --quiet --release --package benzer-core --package benzer-fuzz

bench: $(STAMPS)/test ## compare the speed with other libraries, in a quarter of an hour (BENCH="words", BENCH="--file my.jsonl", BENCH=--help)
	$(BIN)/python -m benchmarks.run $(BENCH)

counts: $(STAMPS)/venv ## compare instruction counts of the hot kernels with the record (COUNTS=--write updates it); needs valgrind
	$(BIN)/python -m benchmarks.instructions $(COUNTS)

faults: $(STAMPS)/test ## test indexes and results with 1,000 kills, power cuts and damaged files; takes hours (FAULTS=100)
	BENZER_FAULTS=$(or $(FAULTS),1000) BENZER_POWER_CUTS=$(or $(FAULTS),1000) $(BIN)/pytest -s \
	    tests/doors/test_index_damage.py tests/doors/test_index_power.py tests/doors/test_index_processes.py \
	    tests/doors/test_power_cuts.py tests/doors/test_resume.py tests/unit/test_index_copies.py

fuzz: $(STAMPS)/test ## fuzz the native core and the sources, 10 minutes per target (FUZZ="60 jsonl"); needs nightly Rust and cargo-fuzz
	tools/fuzz.sh $(FUZZ)
	BENZER_FUZZ=$${BENZER_FUZZ:-100000} $(BIN)/pytest $(PYTHON_FUZZ)

sanitize: ## run the tests of the native core under AddressSanitizer and Miri, in about an hour (SANITIZE=asan); needs nightly Rust with miri and rust-src
	tools/sanitize.sh $(SANITIZE)

docs: $(STAMPS)/test ## regenerate the generated pages of docs/reference
	$(BIN)/python tools/make_cli_reference.py

docs-check: $(STAMPS)/test ## run the examples in the documentation and check its links
	$(BIN)/pytest tests/doors/test_docs.py tests/unit/test_architecture.py

wheel: $(STAMPS)/run ## build the abi3 wheel in dist/ and test it in a temporary environment
	tools/check_wheel.sh

sbom: wheel ## list the components of the wheel and the service in dist/ (CycloneDX)
	tools/make_sbom.sh

audit: ## check the crates for advisories, licences and sources (AUDIT="licenses sources" skips advisories); needs cargo-deny
	@command -v cargo-deny >/dev/null || \
	    { echo "benzer: needs cargo-deny, found none: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --locked check $(AUDIT)

lock: ## update the lock files in requirements/ (LOCK=--upgrade for the newest versions); needs uv
	tools/lock.sh $(LOCK)

clean: ## remove all generated files
	rm -rf .venv target dist demo-output .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	rm -f python/benzer/_native*.so

$(STAMPS)/venv: tools/setup.sh requirements/build.txt
	@tools/setup.sh
	@mkdir -p $(STAMPS) && touch $@

# Packages come from the lock files. pip builds pyspark, which has no wheel, with the locked setuptools.
$(STAMPS)/%.txt: requirements/%.txt $(STAMPS)/venv
	@$(BIN)/python -m pip install --require-hashes --no-build-isolation --requirement $<
	@touch $@

# maturin asks pip for what pyproject.toml requires. Without an index, pip fails if the lock lacks any of it.
DEVELOP := PIP_NO_INDEX=1 $(BIN)/maturin develop --release --locked --quiet
BUILDING := echo "benzer: building the native core; the first time takes a minute or two"

$(STAMPS)/run: $(STAMPS)/run.txt $(BUILT_FROM)
	@$(BUILDING)
	@$(DEVELOP)
	@touch $@

$(STAMPS)/service: $(STAMPS)/service.txt $(BUILT_FROM)
	@$(BUILDING)
	@$(DEVELOP) --extras service,images,redis,parquet
	@touch $@ $(STAMPS)/run.txt $(STAMPS)/run

$(STAMPS)/test: $(STAMPS)/dev.txt $(BUILT_FROM)
	@$(BUILDING)
	@$(DEVELOP) --extras test
	@touch $@ $(STAMPS)/run.txt $(STAMPS)/run $(STAMPS)/service.txt $(STAMPS)/service
