# make demo: set up .venv; chunk, index and search the documents that come with the project
# make test: set up .venv and run lint, types, import rules and all tests (up to eight minutes on two cores)
# make quick: the same with the fast tests only (about a minute)
# make sanitize: the tests of the C code under sanitizers, and a fuzzer (two minutes); FUZZ=600 for ten minutes of it
# make docs: build the documentation as a site, in build/site
# make coverage: run all tests and measure which lines they execute (up to fifteen minutes on two cores)
# make bench: compare with the peers, in an environment of its own (about ten minutes);
#             BENCH="--markdown FOLDER --prose FOLDER" for texts of your own, BENCH=--quick for a first look
# make bench-pdf: compare the reading of PDFs with other engines (about ten minutes);
#             BENCH="--pdfs FOLDER" for files of your own
# make bench-html: compare the reading of web pages with other engines (about five minutes);
#             BENCH="--html FOLDER" for files of your own
# make bench-index: indexing and searching in the embedded store (about ten minutes);
#             BENCH="--documents FOLDER" for files of your own, BENCH=--million for a million chunks
# make bench-answers: what a search returns of the answers, ours and the peers' chunks (about twenty minutes)
# make bench-retrieval: compare how well chunks are found (a few minutes);
#             BENCH="--corpus FOLDER" for texts and questions of your own

PYTHON ?= python3
BIN := .venv/bin
SPECS := .venv/specs

.PHONY: demo test quick bench bench-pdf bench-html bench-index bench-retrieval bench-answers lint types tests sanitize docs coverage browser clean

demo: .venv/ready
	$(BIN)/spanwise demo

test: lint types tests

quick: lint types $(SPECS)/ready
	$(BIN)/pytest -m "not slow and not browser and not server and not process"

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/ready
	$(BIN)/mypy
	MYPYPATH=bench $(BIN)/mypy bench

tests: .venv/ready $(SPECS)/ready browser
	$(BIN)/pytest

FUZZ ?= 30
sanitize: .venv/ready $(SPECS)/ready
	$(BIN)/python tests/sanitized.py $(FUZZ)

docs: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

coverage: .venv/ready $(SPECS)/ready browser
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: .venv-bench/ready
	.venv-bench/bin/python bench/run.py $(BENCH)

bench-pdf: .venv-bench/ready browser
	.venv-bench/bin/python bench/pdfs.py $(BENCH)

bench-html: .venv-bench/ready
	.venv-bench/bin/python bench/web.py $(BENCH)

bench-index: .venv/ready
	$(BIN)/python bench/index.py $(BENCH)

bench-answers: .venv-bench/ready
	.venv-bench/bin/python bench/answers.py $(BENCH)

bench-retrieval: .venv-bench/ready
	.venv-bench/bin/python bench/retrieval.py $(BENCH)

.venv/ready: pyproject.toml setup.py $(wildcard src/spanwise/native/*.[ch])
	$(PYTHON) -m venv .venv || (apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv .venv)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[all,dev]"
	touch $@

# peers one by one: one that can't be had is shown as "not installed", the others are measured
.venv-bench/ready: pyproject.toml setup.py $(wildcard src/spanwise/native/*.[ch]) bench/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --editable .
	grep -v '^#' bench/requirements.txt | while read -r peer; do \
		.venv-bench/bin/pip install --quiet --disable-pip-version-check "$$peer" || true; done
	touch $@

# the examples of the CommonMark and GitHub specifications come with marko's source package
$(SPECS)/ready: .venv/ready
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --no-binary marko --dest $(SPECS) marko==2.2.4
	touch $@

# pages and links are tested in a browser, which wants fonts for every script; without root those tests are skipped
BROWSER := chromium fonts-dejavu-core fonts-noto-cjk
browser:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! dpkg -s $(BROWSER) >/dev/null 2>&1; then \
		(apt-get update && apt-get install -y --no-install-recommends $(BROWSER)) || echo "$(BROWSER): not installed"; fi

clean:
	rm -rf .venv .venv-bench .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage* build src/spanwise/native/*.so
