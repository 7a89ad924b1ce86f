# `make demo` and `make test` are all one needs: each makes .venv, installs what it uses, and runs.
# PYTHON=python3.12 make test   uses another interpreter (3.11 or later).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_OUTPUT ?= demo-output
PYTEST_ARGS ?=
# What `make check` compares with.
BRANCH ?= main
# The build that pip's own index has; for a CPU: TORCH='torch torchvision --index-url https://download.pytorch.org/whl/cpu'
TORCH ?= torch==2.13.0 torchvision==0.28.0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, each of thousands of processes would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo train-demo check test test-fast test-slow test-by-hand test-torch flamingo lint prose docs schema audit format constraints clean

help:
	@echo 'make demo        install into $(VENV) and run the whole pipeline on the bundled site, offline'
	@echo 'make train-demo  the demo, and then a training on its shards that meets a bad page; installs PyTorch'
	@echo 'make check       the linters, and the tests that mirror what changed since main: after each edit'
	@echo 'make test        install into $(VENV) and run the linters and the tests'
	@echo 'make test-fast   the tests alone'
	@echo 'make test-slow   the tests marked slow: kills, large inputs, builds'
	@echo 'make test-by-hand  the longest tests, which CI leaves out: docs/development.md'
	@echo 'make flamingo    install PyTorch, open_flamingo and loaders into $(VENV): tests that need them run instead of being skipped'
	@echo 'make test-torch  make flamingo, then all tests, slow ones too, of the files that need PyTorch'
	@echo 'make lint        ruff, mypy, import-linter, the prose check'
	@echo 'make prose       phrases, sentence length and spelling of docs, docstrings and messages'
	@echo 'make docs        build the site of docs/ into build/site, strictly'
	@echo 'make schema      write the JSON Schemas of the configs into configs/schema'
	@echo 'make audit       every pinned version against the known holes of PyPI'"'"'s advisories'
	@echo 'make format      let ruff lay out the code'
	@echo 'make constraints resolve every dependency anew and write constraints.txt'
	@echo 'make clean       remove $(VENV), builds and caches'

demo: $(VENV)/.installed-demo
	$(BIN)/obelics demo --output $(DEMO_OUTPUT)

train-demo: $(VENV)/.installed-train
	$(BIN)/obelics demo --train --output $(DEMO_OUTPUT)
	@echo 'obelics is $(BIN)/obelics; to type it so: . $(BIN)/activate'

# Two processes on two cores: were each of them to use both, the tests would take twice as long.
check test-fast test-slow test-by-hand test-torch: export OMP_NUM_THREADS := 1

check: lint
	@tests=$$($(BIN)/python tests/changed.py $(BRANCH)) || exit 1; \
	    if [ -z "$$tests" ]; then echo 'no test mirrors what changed since $(BRANCH)'; \
	    else $(BIN)/python -m pytest -q -n 2 --dist loadfile $(PYTEST_ARGS) $$tests; fi

test: lint test-fast

test-fast: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST_ARGS)

test-slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m 'slow and not by_hand' -n 2 --dist loadfile $(PYTEST_ARGS)

test-by-hand: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m by_hand -n 2 --dist loadfile $(PYTEST_ARGS)

# open_flamingo pins torch 2.0.1 in its metadata and runs with this one: docs/flamingo.md.
flamingo: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --no-compile $(TORCH)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[flamingo]'
	$(BIN)/python -m pip install --quiet --no-compile --no-deps open_flamingo==2.0.1
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --requirement tests/inspect/exported/loaders.txt

# Without torchvision, which the training does not use.
$(VENV)/.installed-train: $(VENV)/.installed-demo
	$(BIN)/python -m pip install --quiet --no-compile $(filter-out torchvision%,$(TORCH))
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[demo,train]'
	@touch $@

# Files with tests that are skipped without torch; and what may not be imported, of which torch says more once it is there.
test-torch: flamingo
	$(BIN)/python -m pytest -m 'not by_hand' -n 2 --dist loadfile $(PYTEST_ARGS) \
	    $$(grep -rlE --include='test_*.py' 'importorskip."(torch|nemo_curator|tests[.])' tests) tests/packaging/test_imports.py

lint: prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

prose: $(VENV)/.installed-dev
	$(BIN)/python docs/prose.py
	$(BIN)/codespell

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python docs/offline.py build/site

schema: $(VENV)/.installed-dev
	$(BIN)/python docs/config_schema.py

# Exit code 1 for a known hole. A package that could not be asked about, as without the advisories at hand, is listed.
audit: $(VENV)/.installed-dev
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip --progress-spinner off

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# An extra of setup.py (demo, dev, bench), installed with the versions of constraints.txt.
$(VENV)/.installed-%: setup.py constraints.txt $(wildcard filters/*.c models/*.c obelics_pipeline/*/*/*.c obelics_pipeline/*/*/*/*.c)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'Python 3.11 or later is needed; $(PYTHON) is' \
	           "$$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet 'pip>=24'  # older ones fail on an extra that two packages spell differently
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[$*]'
	@touch $@

# Exact versions that install together: the newest that pip finds for everything at once, in an empty environment.
# torch, and what it brings for CUDA, is left open: each machine has its own build.
constraints:
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/pip install --quiet --upgrade pip
	build/constraints/bin/pip install --quiet '.[all,bench,dev,flamingo]'
	( echo '# Exact versions that install together on Python 3.11. Made by: make constraints'; \
	  build/constraints/bin/pip freeze --all --exclude pip --exclude obelics-pipeline | \
	  grep -vE '^(torch|torchvision|triton|nvidia-|cuda-)' ) > constraints.new
	mv constraints.new constraints.txt
	rm -rf build/constraints

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f filters/*.so models/*.so obelics_pipeline/*/*/*.so obelics_pipeline/*/*/*/*.so
