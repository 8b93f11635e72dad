# Everything runs in a virtual environment of the checkout's own, made when it is first needed.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test check bench bench-large bench-short torture clean

demo: .venv/ready ## separate processes race for the same answers
	$(BIN)/resolution-ledger demo

test: .venv/ready ## every test
	$(BIN)/pytest

check: .venv/ready ## lint, types, the import rule
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: .venv/bench ## everything that docs/performance.md shows, in a quarter of an hour
	$(BIN)/python -m benchmarks --plots build/benchmarks/plots

bench-large: .venv/ready ## a win at ten million instances, which are built once
	$(BIN)/python -m benchmarks --large --only instances --json build/benchmarks/large.json

bench-short: .venv/ready ## fails if the ledger is far slower than it should be
	$(BIN)/python -m benchmarks.short

torture: .venv/ready ## 10,000 races with everything that can break; SEED=n for the same once more, DURATION=s
	$(BIN)/python -m torture $(if $(SEED),--seed $(SEED)) $(if $(DURATION),--duration $(DURATION)) --report build/torture/report.json

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[cli,test]'
	touch $@

.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[bench,cli,test]'
	touch $@

clean: ## everything that can be made again
	rm -rf .venv build .hypothesis .mypy_cache .pytest_cache .ruff_cache src/*.egg-info *.egg-info
